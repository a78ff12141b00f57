export const { WebSocket } = globalThis;
