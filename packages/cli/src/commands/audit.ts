import { readFile } from "node:fs/promises";
import { getLedgerPath, type LedgerProblem, type LedgerRecord, verifyLedger } from "@tau/policy";
import { tolerate } from "@tau/tools/platform";
import { getAgentDir } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import type { CommandArgs } from "./usage.ts";

const problems: Record<LedgerProblem["kind"], string> = {
  not_a_record: "is not a record",
  changed: "was changed after it was written",
  chain_broken: "does not follow the line before it: a line was removed, added or moved",
  torn: "is cut off, as a crash leaves it; the next record removes it and says so",
};

export async function verify(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const path = getLedgerPath(getAgentDir(io));
  const report = await readLedger(path);
  if (args.has("json")) io.out(jsonLine({ path, records: report.records.length, problems: report.problems }));
  else if (report.problems.length === 0) io.out(`${path}: ${count(report.records.length)}, all in order.\n`);
  else for (const { line, kind } of report.problems) io.out(`${path}:${line} ${problems[kind]}.\n`);
  // What a crash left is repaired by itself.
  if (report.problems.some(({ kind }) => kind !== "torn")) return exitCodes.failed;
}

export async function tail(args: CommandArgs, io: Io): Promise<void> {
  const limit = Number(args.value("lines") ?? 20);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new UsageError("arguments", "--lines takes a whole number, 1 or more.");
  const { records } = await readLedger(getLedgerPath(getAgentDir(io)));
  const last = records.slice(-limit);
  if (args.has("json")) return io.out(last.map((record) => jsonLine(record)).join(""));
  if (last.length === 0) return io.out("Nothing was written to the audit yet.\n");
  const columns = ["TIME", "EVENT", "OUTCOME", "WHAT", "BY"].map((title) => ({ title }));
  io.out(tableText([...columns, { title: "DETAILS", shrinks: true }], last.map(toRow), io));
}

function toRow({ ts, event, outcome, toolName, capability, by, rule, ...rest }: LedgerRecord): string[] {
  const { class: found, tier, lostBytes, reason } = rest;
  const what = [toolName, capability].filter(Boolean).join(" ");
  const loss = lostBytes === undefined ? undefined : `${lostBytes} bytes of a record were cut off by a crash`;
  const details = [rule, found, tier, reason, loss].filter((text) => text !== undefined).join(", ");
  return [new Date(ts).toISOString(), event, String(outcome ?? ""), what, String(by ?? ""), details];
}

const readLedger = async (path: string) => verifyLedger((await tolerate(readFile(path, "utf8"), "ENOENT")) ?? "");

const count = (records: number): string => (records === 1 ? "1 record" : `${records} records`);
