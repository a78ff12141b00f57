/** The slash command `/agents`: the tree, what can be done to each agent, and the definitions. */
import { systemClock } from "@tau/ai";
import { getErrorMessage } from "@tau/ai/internal";
import type { CommandDefinition, ExtensionAPI, ExtensionUi } from "@tau/extensions";
import type { Directories } from "../definitions/definition-file.ts";
import { listDefinitionRows } from "../definitions/definition-rows.ts";
import { type MenuAction, type MenuRow, showMenu } from "../../kit/show-menu.ts";
import { readTranscript, sendMessage } from "./agents-actions.ts";
import { describeAgent, sortAgents } from "./lines.ts";
import type { Team } from "./team.ts";
import type { Agent } from "./tree.ts";

const followWidget = "agents.follow";
const maxFollowed = 12;

interface CommandParts {
  getTeam: () => Team;
  directories: Directories;
  tau: Pick<ExtensionAPI, "getAgents">;
}

export function createAgentsCommand({ getTeam, directories, tau }: CommandParts): CommandDefinition {
  let stopFollowing = () => {};
  return {
    description: "Sub-agents and definitions of agents: show, steer, stop, make and edit them",
    handler: async (_args, { ui }) => {
      const { tree } = getTeam().self;
      const follow = (agent: Agent): void => {
        stopFollowing();
        stopFollowing = followAgent(ui, agent);
      };
      const unfollow = (): void => stopFollowing();
      await showMenu(ui, {
        title: "Agents",
        getRows: async () => [
          ...sortAgents(tree.agents).map((agent) => toRow(ui, agent, { follow, unfollow })),
          ...(await listDefinitionRows({ ui, directories, tau })),
        ],
      });
    },
  };
}

interface Following {
  follow: (agent: Agent) => void;
  unfollow: () => void;
}

function toRow(ui: ExtensionUi, agent: Agent, { follow, unfollow }: Following): MenuRow {
  const label = describeAgent(agent, systemClock.monotonic());
  const read: MenuAction = { label: "Read its transcript", run: () => showTranscript(ui, agent) };
  if (agent.state.kind === "ended") return { label, actions: [read] };
  return {
    label,
    actions: [
      { label: "Follow it below", run: () => follow(agent) },
      { label: "Stop following", run: unfollow },
      { label: "Steer it", run: () => steer(ui, agent) },
      { label: "Stop it", run: () => agent.stop() },
      read,
    ],
  };
}

async function steer(ui: ExtensionUi, agent: Agent): Promise<void> {
  const message = await ui.input(`A message to ${agent.title}`);
  if (message === undefined || message.trim() === "") return;
  await report(ui, async () => sendMessage("person", agent, message));
}

async function showTranscript(ui: ExtensionUi, agent: Agent): Promise<void> {
  try {
    await ui.editor(`Transcript of ${agent.title}`, (await readTranscript(agent)).join("\n"));
  } catch (error) {
    ui.notify(getErrorMessage(error), "error");
  }
}

async function report(ui: ExtensionUi, act: () => Promise<string>): Promise<void> {
  try {
    ui.notify(await act(), "info");
  } catch (error) {
    ui.notify(getErrorMessage(error), "error");
  }
}

/** Shows the last lines of an agent's transcript until it ends. Returns how to stop. */
function followAgent(ui: ExtensionUi, agent: Agent): () => void {
  let timer: NodeJS.Timeout | undefined;
  const show = async (): Promise<void> => {
    timer = undefined;
    if (agent.state.kind === "ended") return stop();
    const lines = await readTranscript(agent);
    ui.setWidget(followWidget, [`${agent.title}:`, ...lines.slice(-maxFollowed)]);
  };
  const stopListening = agent.tree.onChange(() => {
    timer ??= setTimeout(() => void show(), 200).unref();
  });
  const stop = (): void => {
    stopListening();
    clearTimeout(timer);
    ui.setWidget(followWidget, undefined);
  };
  void show();
  return stop;
}
