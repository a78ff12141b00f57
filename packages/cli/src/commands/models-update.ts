/** `tau models update`: renews the catalogue of models from a file or an address, once the user agrees. */
import { open, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { closeAfter, getErrorMessage, platform } from "@tau/ai/internal";
import { type CatalogueDifference, planRenewal, StoredCatalogue } from "@tau/config/models";
import { expandHome, getAgentDir } from "../hosting/agent-dir.ts";
import { confirm } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { formatTokens } from "../process/tokens-text.ts";
import { openAccess } from "./access.ts";
import type { CommandArgs } from "./usage.ts";
import { HarnessError } from "@tau/protocol";

const maxBytes = 8 * 1024 * 1024;
const timeoutMs = 60_000;

export async function updateModels(args: Pick<CommandArgs, "has" | "positionals">, io: Io): Promise<void> {
  const [source] = args.positionals;
  const path = join(getAgentDir(io), "catalogue.json");
  if (args.has("reset")) {
    if (source !== undefined) throw new UsageError("arguments", "--reset takes no file or address.");
    await rm(path, { force: true });
    return io.err("Only the models of the built-in catalogue and of models.json are used from now on.\n");
  }
  if (source === undefined)
    throw new UsageError("arguments", "name the file or the https address of a catalogue, or use --reset.");
  const facts = /^[a-z][a-z0-9+.-]*:\/\//i.test(source) ? await download(source, io) : await readFacts(source, io);
  const plan = planRenewal(facts, new StoredCatalogue(path));
  if (plan.kind === "refused") throw new HarnessError("unavailable", formatRefusal(source, plan.problems));
  for (const note of plan.notes) io.err(`${note}\n`);
  const { difference } = plan;
  if (difference.added.length + difference.changed.length === 0)
    return io.err("All of its models are known already.\n");
  io.out(formatDifference(difference));
  await confirm(io, "Use these models from now on?", {
    yes: args.has("yes"),
    declined: "The catalogue was not changed.",
  });
  const { writeTextFile } = await import("@tau/tools/durable");
  await writeTextFile(path, plan.text, { replaces: true });
  io.err(`Written to ${path}. tau models update --reset removes it.\n`);
}

async function readFacts(file: string, io: Io): Promise<string> {
  const path = resolve(io.cwd, expandHome(io, file));
  const handle = await open(path).catch((error: unknown) => {
    throw new HarnessError("unavailable", `${file} cannot be read: ${getErrorMessage(error)}`);
  });
  return await closeAfter(handle, async () => {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new HarnessError("unavailable", `${file} is not a file.`);
    if (stats.size > maxBytes) throw new HarnessError("unavailable", formatTooLong(file));
    return await handle.readFile("utf8");
  });
}

async function download(address: string, io: Io): Promise<string> {
  if (!/^https:\/\//i.test(address) || !URL.canParse(address))
    throw new UsageError(
      "arguments",
      `${JSON.stringify(address)} is not an https address. A catalogue is fetched over https only.`,
    );
  const access = await openAccess(io);
  return await closeAfter(access, async () => {
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(timeoutMs)]);
    const request = { method: "GET" as const, url: address, headers: { accept: "application/json" }, body: "" };
    try {
      const response = await platform.send(request, { signal, env: access.env });
      if (response.status !== 200) {
        response.cut();
        const { location } = response.headers;
        const target = location === undefined ? "" : ` It redirects to ${location}; name that address if you trust it.`;
        throw new HarnessError("unavailable", `the server answered with status ${response.status}.${target}`);
      }
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of response.body) {
        bytes += chunk.length;
        if (bytes > maxBytes) {
          response.cut();
          throw new HarnessError("unavailable", formatTooLong("the answer"));
        }
        chunks.push(chunk);
      }
      return Buffer.concat(chunks).toString("utf8");
    } catch (error) {
      io.signal.throwIfAborted();
      throw new HarnessError("unavailable", `The catalogue could not be fetched: ${getErrorMessage(error)}`, {
        cause: error,
      });
    }
  });
}

const formatTooLong = (subject: string) => `${subject} is longer than 8 MB, so it is not read as a catalogue.`;

const maxShownProblems = 20;

function formatRefusal(source: string, problems: readonly string[]): string {
  const shown = problems.slice(0, maxShownProblems).map((problem) => `\n  ${problem}`);
  const more = problems.length > shown.length ? `\n  and ${problems.length - shown.length} more` : "";
  return `${source} is not used, and nothing was changed:${shown.join("")}${more}`;
}

function formatDifference({ added, changed, unchanged }: CatalogueDifference): string {
  const additions = added.map(({ provider, model: { id, contextWindow, cost } }) => {
    const price =
      cost.input === 0 && cost.output === 0 ? "no price" : `$${cost.input} in, $${cost.output} out per million`;
    return `+ ${provider}/${id}  ${formatTokens(contextWindow)} context, ${price}\n`;
  });
  const changes = changed.map(({ provider, id, changes: fields }) => {
    const each = fields.map(({ field, before, after }) => `${field} ${before ?? "unset"} → ${after ?? "unset"}`);
    return `~ ${provider}/${id}  ${each.join(", ")}\n`;
  });
  const summary = `${added.length} added, ${changed.length} changed, ${unchanged} as before.\n`;
  return [...additions, ...changes, summary].join("");
}
