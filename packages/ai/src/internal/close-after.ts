/** Runs `work` with something that is open, and closes that afterwards, also if the work fails. */
export async function closeAfter<Open extends { close(): Promise<void> }, Result>(
  open: Open,
  work: (open: Open) => Promise<Result>,
): Promise<Result> {
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}
