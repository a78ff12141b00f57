/** `tau memory`: what is remembered, on the command line. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@tau/ai";
import type { ProgramContext } from "@tau/extensions";
import { HarnessError } from "@tau/protocol";
import { orUndefined } from "@tau/tools/durable";
import { toVisible } from "../kit/visible-text.ts";
import { describeFact, type Fact, formatLine, getFactId } from "./fact.ts";
import { FactFile } from "./fact-file.ts";
import { getFactsDirectory, getMemoryRoot } from "./project-directory.ts";

const maxFound = 50;

export async function runMemoryCommand(context: ProgramContext): Promise<"failed" | void> {
  const { subcommand, positionals, agentDir, cwd } = context;
  const facts = new FactFile(getFactsDirectory(agentDir, cwd));
  switch (subcommand) {
    case "search": {
      const found = await facts.search(positionals.join(" "), maxFound);
      return printFacts(
        context,
        found.map(({ fact }) => fact),
        "Nothing that fits is remembered of this project.",
      );
    }
    case "edit":
      return await edit(context, facts);
    case "forget":
      return await forget(context, facts);
    case "export":
      return await exportFacts(context, facts);
    default: {
      const empty = `Nothing is remembered of this project. Its file would be ${facts.path}`;
      return printFacts(context, await facts.list(), empty);
    }
  }
}

const toJson = (fact: Fact) => ({ id: getFactId(fact), ...fact });

function printFacts({ has, out }: ProgramContext, facts: readonly Fact[], empty: string): void {
  if (has("json")) return out(`${JSON.stringify(facts.map(toJson))}\n`);
  if (facts.length === 0) return out(`${empty}\n`);
  for (const fact of facts) out(`${getFactId(fact)}  ${toVisible(fact.text)}\n          ${describeFact(fact)}\n`);
}

const describeMissing = (id: string): HarnessError =>
  new HarnessError("invalid_input", `There is no fact ${JSON.stringify(id)}. See tau memory list.`);

async function edit({ positionals, out }: ProgramContext, facts: FactFile): Promise<void> {
  const [id = "", ...words] = positionals;
  if (words.join(" ").trim() === "") throw new HarnessError("invalid_input", "The new text is empty. See tau memory.");
  const date = new Date(systemClock.now()).toISOString().slice(0, 10);
  const change = await facts.change({ kind: "edit", id, text: words.join(" "), date });
  if (change.kind !== "edited") throw describeMissing(id);
  out(`${getFactId(change.fact)}  ${change.fact.text}\n`);
}

async function forget({ positionals, value, out }: ProgramContext, facts: FactFile): Promise<void> {
  const session = value("session");
  const all = await facts.list();
  const ids =
    session === undefined ? positionals : all.filter((fact) => fact.session === session).map((fact) => getFactId(fact));
  if (ids.length === 0)
    throw new HarnessError(
      "invalid_input",
      session === undefined
        ? "Name the ids of facts, or a session with --session. See tau memory list."
        : `Nothing is remembered of the session ${JSON.stringify(session)}.`,
    );
  const unknown = ids.find((id) => !all.some((fact) => getFactId(fact) === id));
  if (unknown !== undefined) throw describeMissing(unknown);
  const change = await facts.change({ kind: "forget", ids });
  for (const { text } of change.kind === "forgotten" ? change.facts : []) out(`Forgotten: ${toVisible(text)}\n`);
}

async function exportFacts({ has, out, agentDir }: ProgramContext, own: FactFile): Promise<void> {
  const root = getMemoryRoot(agentDir);
  const names = has("all") ? ((await orUndefined(readdir(root))) ?? []).toSorted() : [];
  const files = has("all") ? names.map((name) => ({ name, facts: new FactFile(join(root, name)) })) : [];
  const projects = has("all") ? files : [{ name: "", facts: own }];
  const read = await Promise.all(projects.map(async ({ name, facts }) => ({ name, facts: await readFacts(facts) })));
  const kept = read.filter(({ facts }) => facts.length > 0);
  if (has("json")) {
    const json = has("all")
      ? kept.map(({ name, facts }) => ({ project: name, facts: facts.map(toJson) }))
      : read[0]!.facts.map(toJson);
    return out(`${JSON.stringify(json)}\n`);
  }
  for (const { name, facts } of kept) {
    if (name !== "") out(`# ${name}\n\n`);
    out(`${facts.map(formatLine).join("\n")}\n${name === "" ? "" : "\n"}`);
  }
}

/** Other files in the directory are no projects. */
const readFacts = async (facts: FactFile): Promise<Fact[]> => (await orUndefined(facts.list())) ?? [];
