import "@/host/empty_environment.ts"; // first: before any library looks at process.env
import { listenToMain } from "@/host/host_thread.ts";

listenToMain();
