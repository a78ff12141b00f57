/** Stops the program for the shell, with all that it was started with. Resolves when `fg` lets it go on. */
export async function suspend(self: NodeJS.Process): Promise<void> {
  if (self.platform === "win32") throw new Error("Windows cannot suspend a program.");
  // Nothing else may be open while the terminal is somebody else's, and a program without anything open ends.
  const open = setInterval(() => {}, 1 << 30);
  try {
    await new Promise<void>((resolve) => {
      self.once("SIGCONT", () => resolve());
      self.kill(0, "SIGTSTP");
    });
  } finally {
    clearInterval(open);
  }
}
