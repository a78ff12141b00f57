/** Where expanding gets its texts from in a session. */
import { type FileSystem, nodeFileSystem } from "@tau/tools/platform";
import type { ResourceLoader } from "../resources/resource-loader.ts";
import { formatFileProblem } from "../file-problem.ts";
import { readSkill } from "../resources/skills.ts";
import type { ExpandPort } from "./expand.ts";
import { createMentionReader, type MentionReaderOptions } from "./read-mention.ts";

export interface ExpandPortOptions extends MentionReaderOptions {
  loader: Pick<ResourceLoader, "resources">;
  /** Whether `/skill:name` calls one; asked each time. Default: always. */
  offersSkills?: () => boolean;
  /** Reads skills. Default: the real one. */
  fileSystem?: FileSystem;
}

/** Always shows what the loader has now, so it needs to be made only once. */
export function createExpandPort({
  loader,
  offersSkills = () => true,
  fileSystem = nodeFileSystem,
  ...mentions
}: ExpandPortOptions): ExpandPort {
  return {
    get templates() {
      return loader.resources.promptTemplates;
    },
    get skills() {
      return offersSkills() ? loader.resources.skills : [];
    },
    async readSkill(skill) {
      const { value, problems } = await readSkill(fileSystem, skill);
      const words = problems.map(formatFileProblem).join(" ");
      if (value === undefined) return { kind: "failed", reason: words };
      return { kind: "text", text: value, ...(words !== "" && { notice: words }) };
    },
    readMention: createMentionReader(mentions),
  };
}
