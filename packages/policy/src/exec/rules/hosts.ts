/** Hosts of addresses. Pure. */

/** The machine itself. */
export function isLocalHost(host: string): boolean {
  const name = normalise(host);
  return (
    name === "localhost" ||
    name.endsWith(".localhost") ||
    name === "::1" ||
    name === "0.0.0.0" ||
    name === "host.docker.internal" ||
    /^127(?:\.\d{1,3}){3}$/.test(name)
  );
}

/** The service that gives a cloud machine its credentials, in all spellings of its address. */
export function isMetadataHost(host: string): boolean {
  const name = normalise(host);
  if (
    /^(?:metadata\.google\.internal|metadata|instance-data(?:\.ec2\.internal)?|fd00:ec2::254|100\.100\.100\.200|169\.254\.170\.2)$/.test(
      name,
    )
  )
    return true;
  if (name.startsWith("::ffff:")) return isMetadataHost(name.slice(7)) || /^::ffff:a9fe:a9fe$/.test(name);
  return toAddress(name) === 0xa9_fe_a9_fe;
}

const normalise = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");

/** An IPv4 address as a number, also from decimal, octal and hexadecimal parts. */
function toAddress(host: string): number | undefined {
  const parts = host
    .split(".")
    .map((part) =>
      /^0[0-7]+$/.test(part) ? Number.parseInt(part, 8) : /^(?:\d+|0x[\da-f]+)$/.test(part) ? Number(part) : Number.NaN,
    );
  if (parts.length > 4 || parts.some((part) => !Number.isInteger(part))) return undefined;
  const last = parts.pop()!;
  return parts.reduce((sum, part, index) => sum + part * 256 ** (3 - index), 0) + last;
}

/** The host of a URL or of `host/path`; undefined where there is none. */
export function getHost(address: string): string | undefined {
  const match = /^(?:\w[\w+.-]*:\/\/)?(?:[^/?#@]*@)?(\[[^\]]*\]|[^/?#:]+)/.exec(address);
  return match?.[1];
}
