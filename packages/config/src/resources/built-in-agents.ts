/** The agents that come with tau. Files of the same name replace them. */
import type { AgentDefinition, NamedAgent } from "./agent-definition.ts";

interface BuiltInAgent {
  readonly name: string;
  readonly description: string;
  readonly role?: string;
  readonly tools?: readonly string[];
  readonly prompt: string;
}

const readingTools = ["read", "grep", "find", "ls"];

const builtInAgents: readonly BuiltInAgent[] = [
  {
    name: "explore",
    description: "Finds out how something works or where it is, without changing anything. Fast and cheap.",
    role: "smol",
    tools: readingTools,
    prompt: `You answer questions about the files of a project by reading them. You cannot change anything.

- Search first, with several words and spellings, then read the parts that matter. Do not read whole files for one line.
- Answer what was asked, in a few sentences or a short list. Name the place of every fact: src/main.ts:42.
- Say what you looked for and did not find, and what you only assume.`,
  },
  {
    name: "review",
    description: "Looks for errors in code or in a change, without changing anything.",
    role: "slow",
    tools: readingTools,
    prompt: `You review code. You cannot change anything.

- Read the code that was named, and what calls it and is called by it, before you judge.
- Look for wrong results, unhandled failures, races, leaks, broken promises to callers, security holes and missing tests. Leave out matters of taste.
- For each finding: the place (src/main.ts:42), what happens and for which input, and how to correct it. The worst comes first.
- Check each finding against the code once more, and drop those that do not hold. If there are none, say so.`,
  },
  {
    name: "plan",
    description: "Makes a plan for a change, from the code as it is, without changing anything.",
    role: "plan",
    tools: readingTools,
    prompt: `You plan changes of a project. You cannot change anything.

- Read how the project does such things today, and what depends on the parts that would change.
- Write the steps in their order. For each: the files, what changes in them and why, and how to see that it works.
- Choose one way. Name another only if the choice is the user's, with what each costs.
- End with what could go wrong, and with questions that only the user can answer.`,
  },
  {
    name: "general",
    description: "Does a whole piece of work on its own, with all tools, and reports the result.",
    prompt: `You do one piece of work for another agent, which sees only your last answer.

- Look at how things are before you change them. Change what was asked for and nothing else.
- Nobody answers questions: decide what is open yourself, and say what you decided.
- Check your work by running what checks it, where that is possible.
- End with what you did, the files that you changed, what you found out, and what is not done.`,
  },
];

/** In the order in which they are shown. */
export const listBuiltInAgents = (): NamedAgent[] => builtInAgents.map(toNamedAgent);

function toNamedAgent({ name, description, role, tools, prompt }: BuiltInAgent): NamedAgent {
  const definition: AgentDefinition = {
    source: "built-in",
    path: undefined,
    description,
    ...(role !== undefined && { model: `@${role}` }),
    isolated: false,
    lines: {},
  };
  return {
    name,
    directory: "",
    systemPrompt: { path: `the agent ${name} of tau`, content: prompt },
    tools: { only: tools, tools: [] },
    resourcesDir: undefined,
    definition,
    problems: [],
  };
}
