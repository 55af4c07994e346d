import process from "node:process";

// The host may not read the environment, and some libraries look at `process.env` when they are imported, which would throw
// (compile.md 8). They see an empty one instead. This module must be the first that the host imports.
Object.defineProperty(process, "env", { value: {}, configurable: true });
