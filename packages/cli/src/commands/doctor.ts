/** `tau doctor`: one table of checks, each with its way out. */
import type { Run } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { type Colour, tableText } from "../table.ts";
import { openAccess } from "./access.ts";
import { type Finding, type Patient, checks } from "./doctor-checks.ts";
import { openCommandContext } from "./command-context.ts";
import { type RunForm, runForms } from "./run-forms.ts";

export const doctor: Run = async (args, io) => await runForms("doctor", examine, { args, io });

const colours: Record<Finding["status"], Colour> = { ok: "green", warn: "yellow", fail: "red" };

const examine: RunForm = async (given, io) => {
  const access = await openAccess(io);
  const patient: Patient = { io, access, context: await openCommandContext(io), asksNetwork: given.has("network") };
  const found: ({ check: string } & Finding)[] = [];
  try {
    for (const { name, look } of checks) {
      if (io.signal.aborted) return exitCodes.interrupted;
      if (io.terminal.err) io.err(`\r\u001b[2Kchecking ${name}`);
      found.push({ check: name, ...(await lookOrFail(look, patient)) });
    }
  } finally {
    if (io.terminal.err) io.err("\r\u001b[2K");
    access.registry.close();
  }
  if (given.has("json")) io.out(jsonLine(found));
  else {
    const rows = found.map(({ check, status, says }) => [check, { text: status, colour: colours[status] }, says]);
    io.out(tableText([{ title: "CHECK" }, { title: "STATUS" }, { title: "FOUND", gives: true }], rows, io));
    // In whole: a table may have been cut.
    const fixes = found.flatMap(({ check, says, fix }) =>
      fix === undefined ? [] : `  ${check}: ${says}\n      ${fix}\n`,
    );
    if (fixes.length > 0) io.out(`\nWhat to do:\n${fixes.join("")}`);
  }
  return found.some(({ status }) => status === "fail") ? exitCodes.failed : exitCodes.done;
};

/** A check that breaks has found something too. */
async function lookOrFail(look: (patient: Patient) => Promise<Finding>, patient: Patient): Promise<Finding> {
  try {
    return await look(patient);
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return { status: "fail", says, fix: "This is not expected. Run it again, and report it if it stays." };
  }
}
