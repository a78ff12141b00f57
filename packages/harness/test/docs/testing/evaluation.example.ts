import { createAgent, type CreateAgentOptions } from "@tau/harness";
import { evaluate, type Evaluation, formatEvaluation } from "@tau/harness/testing";

const cases = [
  { name: "capital", input: "What is the capital of France?", expected: "Paris" },
  { name: "sum", input: "What is 17 + 25?", expected: "42" },
];

/** With a scripted model it runs offline; with `createAI(…)` it asks a real one. */
export async function evaluateAnswers(
  options: CreateAgentOptions,
  print: (text: string) => void,
): Promise<Evaluation<string>> {
  const answer = async (question: string, { signal }: { signal: AbortSignal }) => {
    const agent = createAgent(options); // a session of its own, so that no case knows another
    try {
      return await agent.run(question, { signal });
    } finally {
      await agent.dispose();
    }
  };
  const evaluation = await evaluate(cases, answer, {
    correct: ({ output, expected }) => output.includes(expected ?? ""),
    brief: ({ output }) => Math.min(1, 40 / output.length),
  });
  print(formatEvaluation(evaluation));
  return evaluation;
}
