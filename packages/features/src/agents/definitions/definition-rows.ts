/** The part of `/agents` about definitions: what there is, and how to show, make, change and copy one. */
import { getErrorMessage } from "@tau/ai/internal";
import { agentNameRule, isAgentName } from "@tau/config/internal";
import type { AgentInfo, ExtensionAPI, ExtensionUi } from "@tau/extensions";
import type { MenuAction, MenuRow } from "../../kit/show-menu.ts";
import { toVisible, toVisibleLine } from "../../kit/visible-text.ts";
import {
  changeDefinition,
  createDefinition,
  type DefinitionScope,
  type Directories,
  getDefinitionPath,
  hasProjectAgents,
  readDefinition,
} from "./definition-file.ts";
import { formatAgentText, setsPolicy } from "./definition-text.ts";

interface Definitions {
  readonly ui: ExtensionUi;
  readonly directories: Directories;
  readonly tau: Pick<ExtensionAPI, "getAgents">;
}

const maxDescriptionLength = 80;

/** Lists the definitions, and at the end what makes a new one. */
export async function listDefinitionRows(definitions: Definitions): Promise<MenuRow[]> {
  const agents = await definitions.tau.getAgents();
  const scopes = listScopes(definitions.directories);
  const actions = scopes.map((scope) => ({
    label: scope === "user" ? "For yourself, in all projects" : "For this project",
    run: () => report(definitions, () => makeDefinition(definitions, scope)),
  }));
  return [...agents.map((agent) => toRow(definitions, agent)), { label: "New agent", actions }];
}

const listScopes = (directories: Directories): readonly DefinitionScope[] =>
  hasProjectAgents(directories) ? ["user", "project"] : ["user"];

function toRow(definitions: Definitions, agent: AgentInfo): MenuRow {
  const { description, source, path, model, tools, problems } = agent;
  const name = toVisibleLine(agent.name, maxDescriptionLength);
  const count = problems.length === 0 ? "" : `, ${problems.length} problem${problems.length === 1 ? "" : "s"}`;
  const about = toVisibleLine(description, maxDescriptionLength);
  return {
    label: `${name} (${source}${count})${about === "" ? "" : `: ${about}`}`,
    details: [
      path === undefined ? "comes with tau" : toVisible(path),
      ...(model === undefined ? [] : [`model: ${toVisible(model)}`]),
      ...(tools === undefined ? [] : [`tools: ${toVisible(tools.join(", ")) || "none"}`]),
      ...problems.map(toVisible),
    ],
    actions: [
      { label: "Show", run: () => report(definitions, () => showDefinition(definitions, agent)) },
      ...listChanges(definitions, agent),
    ],
  };
}

/** Agents of tau and of packages are replaced by an update, so that only a copy of them is changed. */
function listChanges(definitions: Definitions, agent: AgentInfo): MenuAction[] {
  const { source } = agent;
  if (source === "user" || source === "project") {
    return [{ label: "Edit", run: () => report(definitions, () => editDefinition(definitions, agent, source)) }];
  }
  return listScopes(definitions.directories).map((scope) => ({
    label: scope === "user" ? "Copy to your agents and edit" : "Copy to this project and edit",
    run: () => report(definitions, () => copyDefinition(definitions, agent, scope)),
  }));
}

async function report({ ui }: Definitions, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    ui.notify(getErrorMessage(error), "error");
  }
}

async function showDefinition({ ui }: Definitions, agent: AgentInfo): Promise<void> {
  const { text = "" } = await readDefinition(agent);
  await ui.editor(
    [`${agent.name}: changes here are not kept`, ...agent.problems].map(toVisible).join("\n"),
    toVisible(text),
  );
}

async function makeDefinition(definitions: Definitions, scope: DefinitionScope): Promise<void> {
  const { ui, directories } = definitions;
  const name = (await ui.input("The name of the new agent", "security"))?.trim();
  if (name === undefined || name === "") return;
  const problem = findNameProblem(name, await definitions.tau.getAgents());
  if (problem !== undefined) return ui.notify(problem, "error");
  const description = await ui.input(`What ${name} does, and when to use it`);
  if (description === undefined) return;
  const path = getDefinitionPath(directories, scope, name);
  if (!(await mayWrite(definitions, scope, path))) return;
  await editUntilWritten(definitions, { title: `The prompt of ${name}`, prefill: "" }, async (prompt) => {
    if (prompt.trim() === "") return ui.notify("The prompt is empty, so no agent was made.", "warning");
    const text = formatAgentText({ description: toVisibleLine(description, 1_000), prompt });
    await createDefinition(directories, { scope, path, text });
    await reportWritten(definitions, { scope, path, name });
  });
}

/** Says why a new agent cannot have the name; undefined if it can. Pure. */
export function findNameProblem(
  name: string,
  agents: readonly Pick<AgentInfo, "name" | "source">[],
): string | undefined {
  if (!isAgentName(name)) return `${JSON.stringify(name)} is not a valid name of an agent. Use ${agentNameRule}.`;
  if (name.toLowerCase() === "readme")
    return `A file of the name ${name}.md is not read as an agent. Choose another name.`;
  const other = agents.find((agent) => agent.name.toLowerCase() === name.toLowerCase());
  return other && `There is an agent ${other.name} (${other.source}) already. Choose another name, or change that one.`;
}

async function editDefinition(definitions: Definitions, agent: AgentInfo, scope: DefinitionScope): Promise<void> {
  const { directories } = definitions;
  const file = await readDefinition(agent);
  if (!(await mayWrite(definitions, scope, file.path))) return;
  await editUntilWritten(definitions, { title: file.path, prefill: file.text ?? "" }, async (text) => {
    if (text === (file.text ?? "")) return;
    await changeDefinition(directories, { scope, file, text });
    await reportWritten(definitions, { scope, path: file.path, name: agent.name });
  });
}

async function copyDefinition(definitions: Definitions, agent: AgentInfo, scope: DefinitionScope): Promise<void> {
  const { ui, directories } = definitions;
  const { text: prefill = "" } = await readDefinition(agent);
  const path = getDefinitionPath(directories, scope, agent.name);
  if (!(await mayWrite(definitions, scope, path))) return;
  await editUntilWritten(definitions, { title: path, prefill }, async (text) => {
    await createDefinition(directories, { scope, path, text });
    await reportWritten(definitions, { scope, path, name: agent.name });
    if (agent.source === "package" && scope === "user" && setsPolicy(text)) {
      const message = `The agent ${agent.name} sets a policy. As one of yours it can also loosen that of your settings, which it could not in the package.`;
      ui.notify(message, "warning");
    }
  });
}

/** Asks before a file of the project is written, because trust in the project ends with it. */
async function mayWrite({ ui }: Definitions, scope: DefinitionScope, path: string): Promise<boolean> {
  if (scope === "user") return true;
  const message =
    "Trust in a project is about its files, and agents are among them. When this file is written, the project is no longer trusted, and its settings and agents are not used until you trust it again with tau trust.";
  return await ui.confirm(`Write ${toVisible(path)}?`, message);
}

/** Shows the text again if it could not be written, so that it is not lost; once if nothing in it is changed. */
async function editUntilWritten(
  { ui }: Definitions,
  { title, prefill }: { title: string; prefill: string },
  write: (text: string) => Promise<void>,
): Promise<void> {
  let failed: string | undefined;
  for (;;) {
    const text = await ui.editor(toVisible(title), failed ?? prefill);
    if (text === undefined) return;
    try {
      return await write(text);
    } catch (error) {
      ui.notify(getErrorMessage(error), "error");
      if (text === failed) return;
      failed = text;
    }
  }
}

async function reportWritten(
  { ui, tau }: Definitions,
  { scope, path, name }: { scope: DefinitionScope; path: string; name: string },
): Promise<void> {
  if (scope === "project") {
    return ui.notify(
      `Wrote ${path}. The agents of the project can be used after you trust it again: tau trust`,
      "info",
    );
  }
  const { problems = [] } = (await tau.getAgents()).find((agent) => agent.path === path) ?? {};
  ui.notify(
    [`Wrote ${path}. Start it with tau --agent ${name}.`, ...problems].map(toVisible).join("\n"),
    problems.length > 0 ? "warning" : "info",
  );
}
