/** A client for the gateway, for browsers and Node. */
export { WebSocket } from "#web-socket";
