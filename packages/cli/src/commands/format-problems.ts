const maxReported = 20;

/** Formats each problem in a line, up to a limit. */
export function formatProblems(problems: readonly { message: string }[]): string {
  const more = problems.length - maxReported;
  const lines = problems.slice(0, maxReported).map(({ message }) => `${message}\n`);
  return `${lines.join("")}${more > 0 ? `And ${more} more problems like these.\n` : ""}`;
}
