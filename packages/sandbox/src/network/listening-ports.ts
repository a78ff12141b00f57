/** Ports at which servers listen in the network of a process. */
import { readFileSync } from "node:fs";
import { unlessUnseen } from "../look.ts";

/** A process that is gone has none. `onLoopback`: only those that can be reached at an address of loopback. */
export function listListeningPorts(pid: number, { onLoopback = false } = {}): number[] {
  const tables = ["tcp", "tcp6"].map((name) => unlessUnseen(() => readFileSync(`/proc/${pid}/net/${name}`, "utf8")));
  const ports = tables.flatMap((table) => parseListeningPorts(table ?? "", onLoopback ? loopback : /^/));
  return [...new Set(ports)].toSorted((a, b) => a - b);
}

/** All addresses, 127.0.0.1 and ::1, as the kernel prints them. */
const loopback = /^(?:0{8}|0{32}|0100007F|0{24}01000000|0{16}FFFF00000100007F)$/;

const listening = "0A";

/** Parses a table of sockets as the kernel prints it: `sl local_address rem_address st …`. Pure. */
export function parseListeningPorts(table: string, addresses = /^/): number[] {
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state] = line.trim().split(/\s+/);
    const [address = "", text = ""] = local.split(":");
    const port = Number.parseInt(text, 16);
    return state === listening && port > 0 && addresses.test(address) ? [port] : [];
  });
}
