/** Prompts that are called by their name. */
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { parseFrontmatter, type ResourceDiagnostic } from "@tau/pi/internal";

export interface PromptTemplate {
  name: string;
  description: string;
  content: string;
  source: string;
  filePath: string;
}

const maxDescriptionLength = 60;

/** Loads prompt templates. The first template of a name is used. */
export function loadPromptTemplates(
  paths: readonly string[],
  getSource: (path: string) => string,
): {
  prompts: PromptTemplate[];
  diagnostics: ResourceDiagnostic[];
} {
  const prompts = new Map<string, PromptTemplate>();
  const diagnostics: ResourceDiagnostic[] = [];
  for (const path of paths) {
    try {
      const template = loadTemplate(path, getSource(path));
      const winner = prompts.get(template.name);
      if (!winner) prompts.set(template.name, template);
      else diagnostics.push(describeCollision(template, winner));
    } catch (error) {
      diagnostics.push({ type: "warning", message: getErrorMessage(error), path });
    }
  }
  return { prompts: [...prompts.values()], diagnostics };
}

function loadTemplate(filePath: string, source: string): PromptTemplate {
  const { frontmatter, body } = parseFrontmatter(readFileSync(filePath, "utf8"));
  const name = basename(filePath, ".md");
  const firstLine = body.split("\n").find((line) => line.trim() !== "") ?? "";
  const short = firstLine.length > maxDescriptionLength ? `${firstLine.slice(0, maxDescriptionLength)}...` : firstLine;
  const { description } = frontmatter;
  return {
    name,
    description: typeof description === "string" ? description : short,
    content: body,
    source,
    filePath,
  };
}

const describeCollision = (loser: PromptTemplate, winner: PromptTemplate): ResourceDiagnostic => ({
  type: "collision",
  message: `name "/${loser.name}" collision`,
  path: loser.filePath,
  collision: { resourceType: "prompt", name: loser.name, winnerPath: winner.filePath, loserPath: loser.filePath },
});
