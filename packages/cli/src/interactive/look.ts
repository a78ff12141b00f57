/** How things look: the theme, what is folded, and what the tools say about their results. One for the whole interface. */
import type { ToolData } from "@tau/protocol";
import type { Theme } from "@tau/tui";

export interface Look {
  theme: Theme;
  /** Whether results of tools are shown whole. */
  expandsTools: boolean;
  hidesThinking: boolean;
  /** What is put before each line of code. */
  codeBlockIndent: string;
  /** By the name of the tool. */
  shows: ReadonlyMap<string, ToolData["shows"]>;
}
