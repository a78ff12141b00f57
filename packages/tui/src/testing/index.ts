export { VirtualTerminal } from "./virtual-terminal.ts";
