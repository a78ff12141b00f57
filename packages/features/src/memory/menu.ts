/** `/memory`: what is remembered, what of it was used and why, and what can be done with it. */
import { asRecord, isRecord } from "@tau/ai/internal";
import type { ExtensionCommandContext, FeaturePlace } from "@tau/extensions";
import type { SessionEntry } from "@tau/protocol";
import { type MenuRow, showMenu } from "../kit/show-menu.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { describeFact, type Fact, getFactId } from "./fact.ts";
import type { FactFile } from "./fact-file.ts";
import { findObstacle, isOn } from "./feature.ts";

interface MenuParts {
  readonly facts: FactFile;
  readonly context: ExtensionCommandContext;
  readonly place: FeaturePlace;
  readonly today: string;
}

const maxRows = 100;
const maxLabel = 120;

/** With words, those that fit are shown; `on` and `off` turn it on and off. */
export async function showMemory(args: string, parts: MenuParts): Promise<void> {
  const { context, facts } = parts;
  const obstacle = findObstacle(parts.place);
  if (obstacle !== undefined) return context.ui.notify(obstacle);
  const query = args.trim();
  if (query === "on" || query === "off") return await turn(query === "on", parts);
  const used = listUsed(context.sessionManager.getBranch());
  if (!context.hasUI) {
    const rows = await listFacts(facts, { query, used });
    const lines = rows.map((fact) => formatRow(fact, used.get(getFactId(fact))));
    return context.ui.notify([await formatTitle(parts), ...lines].join("\n"));
  }
  await showMenu(context.ui, {
    title: await formatTitle(parts),
    getRows: async () => [
      toTurnRow(parts),
      ...(await listFacts(facts, { query, used })).map((fact) => toRow(fact, used.get(getFactId(fact)), parts)),
    ],
  });
}

async function formatTitle({ facts, place }: MenuParts): Promise<string> {
  const count = (await facts.list()).length;
  return `Memory is ${isOn(place) ? "on" : "off"}. ${count === 1 ? "1 fact" : `${count} facts`} of this project in ${facts.path}`;
}

/** Lists the facts that this session used first. */
async function listFacts(
  facts: FactFile,
  { query, used }: { query: string; used: ReadonlyMap<string, string> },
): Promise<Fact[]> {
  if (query !== "") return (await facts.search(query, maxRows)).map(({ fact }) => fact);
  const all = (await facts.list()).toReversed();
  const isUsed = (fact: Fact) => used.has(getFactId(fact));
  return [...all.filter(isUsed), ...all.filter((fact) => !isUsed(fact))].slice(0, maxRows);
}

/** Why each fact was used on a branch, by its id. Pure. */
function listUsed(branch: readonly SessionEntry[]): Map<string, string> {
  const used = new Map<string, string>();
  for (const entry of branch) {
    if (entry.type === "custom_message" && entry.customType === "memory")
      for (const { id, reason } of listDetails(entry.details)) used.set(id, `given with the first prompt, ${reason}`);
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    const { toolName, details } = entry.message;
    if (toolName !== "memory_search" && toolName !== "reflect") continue;
    const { query, question } = asRecord(details as unknown);
    for (const { id } of listDetails(details))
      used.set(id, `found for ${JSON.stringify(toVisibleLine(String(query ?? question), 60))}`);
  }
  return used;
}

function listDetails(details: unknown): { id: string; reason: string }[] {
  const { facts } = asRecord(details);
  return (Array.isArray(facts) ? facts : [])
    .filter(isRecord)
    .map(({ id, reason }) => ({ id: String(id), reason: typeof reason === "string" ? reason : "" }));
}

const formatRow = (fact: Fact, reason: string | undefined): string =>
  `${reason === undefined ? "" : "* "}${fact.text} (${describeFact(fact)}${reason === undefined ? "" : `; ${reason}`})`;

function toTurnRow(parts: MenuParts): MenuRow {
  const label = isOn(parts.place) ? "Turn memory off" : "Turn memory on";
  return { label, actions: [{ label, run: async () => await turn(!isOn(parts.place), parts) }] };
}

async function turn(turnsOn: boolean, { place, context }: MenuParts): Promise<void> {
  await place.settings.update("global", { memory: { backend: turnsOn ? "local" : "off" } } as object);
  context.ui.notify(
    turnsOn
      ? "Memory is on. The model has its tools in the next session."
      : "Memory is off. What was remembered stays in its file; tau memory shows it.",
  );
}

function toRow(fact: Fact, reason: string | undefined, { facts, context, today }: MenuParts): MenuRow {
  const id = getFactId(fact);
  return {
    label: toVisibleLine(`${reason === undefined ? "" : "* "}${fact.text}`, maxLabel),
    details: [
      fact.text,
      describeFact(fact),
      ...(reason === undefined ? [] : [`Used in this session: ${reason}`]),
      ...(fact.origin === undefined ? [] : ["It is only found by searches, never given with a prompt."]),
    ],
    actions: [
      {
        label: "Change it",
        async run() {
          const text = await context.ui.editor("Change the fact", fact.text);
          if (text !== undefined && text.trim() !== "") await facts.change({ kind: "edit", id, text, date: today });
        },
      },
      { label: "Forget it", run: async () => void (await facts.change({ kind: "forget", ids: [id] })) },
    ],
  };
}
