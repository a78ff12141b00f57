/** The address that people outside reach the gateway by, if its settings name one. Pure. */

interface OriginSettings {
  allowedHosts: readonly string[];
  allowedOrigins: readonly string[];
}

export const findOutsideOrigin = ({ allowedHosts, allowedOrigins }: OriginSettings): string | undefined =>
  allowedOrigins.find((origin) => allowedHosts.some((name) => isSameHost(origin, name)));

/** A browser leaves out the port that a scheme has anyway. */
function isSameHost(origin: string, host: string): boolean {
  const [scheme, name = ""] = origin.split("://");
  const withPort = /:\d+$/.test(name) ? name : `${name}:${scheme === "https" ? 443 : 80}`;
  return withPort.toLowerCase() === host.toLowerCase();
}
