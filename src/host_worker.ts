import "@/host/empty_environment.ts";

// Not a static import: in the bundle what both threads share would be evaluated before the line above.
const { listenToMain } = await import("@/host/host_thread.ts");
listenToMain();
