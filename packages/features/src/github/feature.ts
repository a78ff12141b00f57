/** GitHub: issues, pull requests, reviews, runs, releases and code. */
import type { Clock } from "@tau/ai";
import type { Settings } from "@tau/config/settings";
import type { Feature, FeatureTool } from "@tau/extensions";
import type { Lookup } from "../kit/http/hosts.ts";
import { githubSettings } from "./settings.ts";

const githubKinds = ["issue", "pr", "review", "run", "release", "code"] as const;
const githubActions = ["list", "view", "create", "comment", "review", "checkout", "watch"] as const;

export interface GitHubArguments {
  kind: (typeof githubKinds)[number];
  action: (typeof githubActions)[number];
  repo?: string;
  number?: number;
  query?: string;
  state?: "open" | "closed" | "all";
  title?: string;
  body?: string;
  labels?: string[];
  head?: string;
  base?: string;
  draft?: boolean;
  verdict?: "approve" | "request_changes" | "comment";
  tag?: string;
  branch?: string;
  limit?: number;
  timeoutMs?: number;
}

/** Describes a call for people, in one line. */
export function summariseGitHubCall({ kind, action, repo, number, query, title, tag }: GitHubArguments): string {
  return ["GitHub:", action, kind, repo, number, query, title, tag].filter((part) => part !== undefined).join(" ");
}

export const githubTool: FeatureTool = {
  name: "github",
  label: "GitHub",
  category: "external",
  description:
    "GitHub: list, view, create and comment issues (issue) and pull requests (pr); review and checkout pull requests; reviews of one (review); list, view and watch runs of Actions (run); releases (release); search code (code, list with query). The user is asked before anything is posted.",
  parameters: {
    type: "object",
    properties: {
      kind: { type: "string", enum: [...githubKinds] },
      action: { type: "string", enum: [...githubActions] },
      repo: { type: "string", description: "owner/name; default: that of the remote origin" },
      number: { type: "integer", minimum: 1, description: "Of an issue or pull request; the id of a run" },
      query: { type: "string", description: "list: a search, as on GitHub" },
      state: { type: "string", enum: ["open", "closed", "all"], description: "Default open" },
      title: { type: "string" },
      body: { type: "string" },
      labels: { type: "array", items: { type: "string" } },
      head: { type: "string", description: "pr create: the branch with the changes" },
      base: { type: "string", description: "pr create: the branch to merge into" },
      draft: { type: "boolean" },
      verdict: {
        type: "string",
        enum: ["approve", "request_changes", "comment"],
        description: "review: default comment",
      },
      tag: { type: "string", description: "Of a release; view without it: the latest" },
      branch: { type: "string", description: "run list" },
      limit: { type: "integer", minimum: 1, maximum: 300, description: "list: default 30" },
      timeoutMs: { type: "integer", minimum: 1, description: "watch: default 600000" },
    },
    required: ["kind", "action"],
  },
  isActive: () => false,
  // Reading needs no permission; what is posted is asked about when it is known as a whole.
  access: () => [{ capability: "tool", target: { kind: "name", name: "github" }, textFrom: "GitHub" }],
  readOnly: false,
  isContained: true,
  summarise: summariseGitHubCall,
};

/** Whether the settings turn the tool on. */
const isOn = ({ tools, defaultTools }: Settings): boolean =>
  tools.enabled.includes(githubTool.name) ||
  (defaultTools ?? []).some((name) => name === githubTool.name || name === `+${githubTool.name}`);

export interface GitHubPorts {
  /** Default: the clock of the system. */
  clock?: Clock;
  /** Default: that of the session. */
  env?: (name: string) => string | undefined;
  /** Finds the addresses of a host. Default: the system's resolver. */
  lookup?: Lookup;
}

export const github = (ports: GitHubPorts = {}): Feature => ({
  name: "github",
  summary: "Issues, pull requests, runs and releases of GitHub; off by default.",
  tools: [githubTool],
  settings: githubSettings,
  mentions: ({ settings }) => (isOn(settings.get()) ? ["issue", "pr"] : []),
  // For `read` of their addresses.
  opensWithSession: ({ settings }) => isOn(settings.get()),
  load: async (place) => {
    const { registerGitHub } = await import("./github.ts");
    return (tau) => registerGitHub(tau, place, ports);
  },
});
