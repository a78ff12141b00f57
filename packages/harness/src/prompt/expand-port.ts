/** Connects the expansion of prompts to the resources of a session. */
import { homedir } from "node:os";
import { nodeFileSystem } from "@tau/tools/platform";
import { guardResources, readSkill } from "@tau/config/internal";
import type { ResourceLoader } from "@tau/config/resources";
import { formatFileProblem } from "@tau/config/settings";
import type { ExpandPort } from "./expand.ts";

interface ExpandPortOptions {
  /** Where relative paths begin; `~` is the home directory. */
  cwd: string;
  loader: Pick<ResourceLoader, "resources">;
  agentDir: string;
  /** Whether `/skill:name` is a command; called each time. Default: always true. */
  offersSkills?: () => boolean;
}

/** Templates and skills that a prompt can expand to. */
export type ResourcePort = Omit<ExpandPort, "readMention">;

/** The port always uses the current resources of the loader. */
export function createExpandPort({
  loader,
  agentDir,
  cwd,
  offersSkills = () => true,
}: ExpandPortOptions): ResourcePort {
  const directories = { cwd, agentDir, home: homedir() };
  return {
    get templates() {
      return loader.resources.promptTemplates;
    },
    get skills() {
      return offersSkills() ? loader.resources.skills : [];
    },
    async readSkill(skill) {
      const { value, problems } = await readSkill(await guardResources(nodeFileSystem, directories), skill);
      const notice = problems.map(formatFileProblem).join(" ");
      if (value === undefined) return { kind: "failed", reason: notice };
      return { kind: "text", text: value, ...(notice !== "" && { notice }) };
    },
  };
}
