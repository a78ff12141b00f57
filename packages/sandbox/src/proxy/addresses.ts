/** Addresses that a name on the internet must not lead to: private networks, this machine, and the metadata of clouds. */
import { BlockList } from "node:net";

const ipv4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  // Also the metadata of most clouds.
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/** Only 2000::/3 is given to hosts on the internet. All forms of IPv4 as IPv6, which would lead around the list above, are here. */
const ipv6 = [
  ["::", 3],
  ["4000::", 2],
  ["8000::", 1],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

/** Two lists, because in one list the forms of IPv4 as IPv6 would cover all of IPv4. Created with the first request. */
let reserved: { 4: BlockList; 6: BlockList } | undefined;

function createList(subnets: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}

export function isPublicAddress({ address, family }: { address: string; family: 4 | 6 }): boolean {
  reserved ??= { 4: createList(ipv4, "ipv4"), 6: createList(ipv6, "ipv6") };
  return !reserved[family].check(address, family === 4 ? "ipv4" : "ipv6");
}
