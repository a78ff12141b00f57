import { type Model, systemClock } from "@tau/ai";
import { closeAfter, didYouMean } from "@tau/ai/internal";
import type { ModelRegistry } from "@tau/config/models";
import type { ExtensionProblem } from "@tau/extensions";
import { formatFileProblem } from "@tau/config/settings";
import { isOffline } from "../hosting/agent-dir.ts";
import type { Io } from "./command.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { firstRunText } from "../start/first-run.ts";
import { jsonLine } from "../modes/json-line.ts";
import { allExtensions, type ChosenExtensions, loadRegistrations } from "../hosting/load-registrations.ts";
import { type Column, tableText } from "../process/table.ts";
import { formatTokens } from "../process/tokens-text.ts";
import { type Access, openAccess, reportNotices } from "./access.ts";
import type { CommandArgs } from "./usage.ts";
import { UsageError } from "../process/errors.ts";

export async function listModels(
  args: Pick<CommandArgs, "has" | "positionals">,
  io: Io,
  chosen: ChosenExtensions = allExtensions,
): Promise<ExitCode | void> {
  return await closeAfter(await openAccess(io), async (access) => {
    reportNotices(access, io);
    const allowNetwork = !args.has("offline") && !isOffline(io);
    const added = await addExtensionModels(access, io, { chosen, allowNetwork });
    return await closeAfter(added, () => printModels(args, io, { registry: access.registry, allowNetwork }));
  });
}

async function printModels(
  args: Pick<CommandArgs, "has" | "positionals">,
  io: Io,
  { registry, allowNetwork }: { registry: ModelRegistry; allowNetwork: boolean },
): Promise<ExitCode | void> {
  for (const problem of registry.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
  // Only the servers on this machine know which models they serve.
  if (allowNetwork) await registry.discover();
  const usable = new Set(registry.getAvailable());
  const known = args.has("all") ? registry.getAll() : [...usable];
  const [search = ""] = args.positionals;
  const models = known.filter((model) => matches(model, search)).sort(byReference);
  if (args.has("json")) {
    return io.out(jsonLine(models.map((model) => ({ ...toJson(model), usable: usable.has(model) }))));
  }
  if (known.length === 0) {
    io.err(firstRunText);
    return exitCodes.failed;
  }
  if (models.length === 0) {
    const hint = didYouMean(search, known.map(getReference)) || (args.has("all") ? "" : " Try --all.");
    throw new UsageError("not_found", `No model has ${JSON.stringify(search)} in its name.${hint}`);
  }
  const rows = models.map((model) => [...toRow(model), usable.has(model) ? "yes" : "no"]);
  return io.out(tableText(args.has("all") ? [...columns, { title: "KEY" }] : columns, rows, io));
}

/** Adds the models that extensions register, as a session does. Closing ends what providers still look for. */
async function addExtensionModels(
  { registry, auth }: Access,
  io: Io,
  { chosen, allowNetwork }: { chosen: ChosenExtensions; allowNetwork: boolean },
): Promise<{ close(): Promise<void> }> {
  const extensions = await loadRegistrations(io, chosen);
  if (extensions.every(({ providers }) => providers.size === 0)) return { close: async () => {} };
  const { createProviders, registerProviders } = await import("@tau/extensions");
  const report = ({ extension, message }: ExtensionProblem) => io.err(`tau: ${extension}: ${message}\n`);
  const providers = createProviders({ registry, auth, clock: systemClock, allowNetwork, report });
  for (const problem of registerProviders(extensions, providers)) report(problem);
  await providers.settle();
  return { close: async () => providers.close() };
}

/** Whether a model has every word of the search in its name. */
function matches(model: Model, search: string): boolean {
  const text = `${getReference(model)} ${model.name}`.toLowerCase();
  const words = search.toLowerCase().split(/\s+/);
  return words.every((word) => text.includes(word));
}

const getReference = ({ provider, id }: Model): string => `${provider}/${id}`;

const byReference = (a: Model, b: Model) => (getReference(a) < getReference(b) ? -1 : 1);

/** Without headers and addresses, which may contain secrets. */
function toJson({ provider, id, name, api, reasoning, input, cost, contextWindow, maxTokens }: Model): object {
  return { provider, id, name, api, reasoning, input, cost, contextWindow, maxTokens };
}

const columns: Column[] = [
  { title: "MODEL", shrinks: true },
  { title: "CONTEXT", align: "right" },
  { title: "ANSWER", align: "right" },
  { title: "THINKS" },
  { title: "IMAGES" },
  { title: "$/M IN", align: "right" },
  { title: "$/M OUT", align: "right" },
];

const toRow = (model: Model): string[] => [
  getReference(model),
  formatTokens(model.contextWindow),
  formatTokens(model.maxTokens),
  model.reasoning ? "yes" : "no",
  model.input.includes("image") ? "yes" : "no",
  formatPrice(model.cost.input),
  formatPrice(model.cost.output),
];

const formatPrice = (dollars: number): string => (dollars === 0 ? "-" : String(Number(dollars.toFixed(3))));
