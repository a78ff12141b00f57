export { type Fault, faultyFileSystem, type FaultyFileSystem, withEveryFault } from "./faults.ts";
