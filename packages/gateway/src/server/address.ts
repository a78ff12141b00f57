/** Addresses of machines. Pure. */
import { isIP } from "node:net";

/** Whether only this machine can reach what listens there. Names are not looked up: only `localhost` is one of its own. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^::ffff:(?=\d)/i, "");
  if (isIP(plain) === 4) return plain.startsWith("127.");
  return isIP(plain) === 6 ? toGroups(plain).join(":") === "0:0:0:0:0:0:0:1" : host === "localhost";
}

/** Returns the key that limits apply to: an IPv4 address, or the network of an IPv6 address, which one machine has whole. */
export function toLimitKey(remoteAddress: string | undefined): string {
  const address = (remoteAddress ?? "").replace(/^::ffff:(?=\d)/i, "");
  return isIP(address) === 6 ? toGroups(address).slice(0, 4).join(":") : address;
}

/** The eight numbers of an IPv6 address, in hexadecimal digits without leading zeros. */
function toGroups(address: string): string[] {
  const [start = "", end] = address.replace(/%.*$/, "").split("::");
  const split = (text = "") => (text === "" ? [] : text.split(":").flatMap(toNumbers));
  const [before, after] = [split(start), split(end)];
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => "0");
  return [...before, ...(end === undefined ? [] : zeros), ...after];
}

/** A group, or the IPv4 address that may be at the end. */
function toNumbers(group: string): string[] {
  if (isIP(group) !== 4) return [Number.parseInt(group, 16).toString(16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}
