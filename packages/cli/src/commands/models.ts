import { didYouMean, type Model } from "@tau/ai";
import { formatFileProblem } from "@tau/harness/settings";
import type { Run } from "../command.ts";
import { exitCodes } from "../exit-codes.ts";
import { firstRunText } from "../first-run.ts";
import { jsonLine } from "../json-line.ts";
import { type Column, tableText } from "../table.ts";
import { openAccess } from "./access.ts";
import { type RunForm, runForms } from "./run-forms.ts";

export const models: Run = async (args, io) => await runForms("models", list, { args, io });

const list: RunForm = async (given, io) => {
  const { registry } = await openAccess(io);
  try {
    for (const problem of registry.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
    // Only the servers on this machine know what they serve.
    if (!given.has("offline")) await registry.discover();
    const usable = new Set(registry.getAvailable());
    const known = given.has("all") ? registry.getAll() : [...usable];
    const [search = ""] = given.places;
    const found = known.filter((model) => matches(model, search)).sort(byName);
    if (given.has("json")) {
      io.out(jsonLine(found.map((model) => ({ ...plain(model), usable: usable.has(model) }))));
      return exitCodes.done;
    }
    if (known.length === 0) {
      io.err(firstRunText());
      return exitCodes.failed;
    }
    if (found.length === 0) {
      const hint = didYouMean(search, known.map(getReference));
      io.err(`tau models: no model has ${JSON.stringify(search)} in its name.${hint} With --all, more are searched.\n`);
      return exitCodes.failed;
    }
    io.out(
      tableText(
        given.has("all") ? [...columns, { title: "KEY" }] : columns,
        found.map((model) => [...row(model), usable.has(model) ? "yes" : "no"]),
        io,
      ),
    );
    return exitCodes.done;
  } finally {
    registry.close();
  }
};

/** Every word of the search, in any order. */
function matches(model: Model, search: string): boolean {
  const text = `${getReference(model)} ${model.name}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

const getReference = ({ provider, id }: Model): string => `${provider}/${id}`;

const byName = (a: Model, b: Model) => (getReference(a) < getReference(b) ? -1 : 1);

/** Without headers, which may hold secrets. */
const plain = ({ provider, id, name, api, reasoning, input, cost, contextWindow, maxTokens }: Model) => ({
  provider,
  id,
  name,
  api,
  reasoning,
  input,
  cost,
  contextWindow,
  maxTokens,
});

const columns: Column[] = [
  { title: "MODEL", gives: true },
  { title: "CONTEXT", align: "right" },
  { title: "ANSWER", align: "right" },
  { title: "THINKS" },
  { title: "IMAGES" },
  { title: "$/M IN", align: "right" },
  { title: "$/M OUT", align: "right" },
];

const row = (model: Model): string[] => [
  getReference(model),
  thousands(model.contextWindow),
  thousands(model.maxTokens),
  model.reasoning ? "yes" : "no",
  model.input.includes("image") ? "yes" : "no",
  price(model.cost.input),
  price(model.cost.output),
];

function thousands(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1_000 ? `${Math.round(tokens / 1_000)}k` : String(tokens);
}

const price = (dollars: number): string => (dollars === 0 ? "-" : String(Number(dollars.toFixed(3))));
