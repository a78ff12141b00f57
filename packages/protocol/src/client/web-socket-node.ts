/** Node 20 has no WebSocket of its own, and those of later versions cannot set headers. */
export { WebSocket } from "ws";
