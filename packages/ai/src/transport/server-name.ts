import { isIP } from "node:net";

/**
 * The name to ask for in a TLS handshake. It is empty for an address, which TLS does not allow as a name. Without it, Node
 * takes the name in the `host` header, which is wrong for a connection to a proxy.
 */
export const toServerName = (hostname: string): string => (isIP(hostname.replace(/^\[|\]$/g, "")) ? "" : hostname);
