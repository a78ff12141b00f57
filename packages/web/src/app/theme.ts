/** Light or dark. Without a choice, as the system is set. */
import { writeValue } from "../device/database.ts";
import { reportFailure } from "./problems.tsx";

type Theme = "light" | "dark";

export function applyTheme(theme: Theme | undefined): void {
  if (theme) document.documentElement.dataset["theme"] = theme;
  else delete document.documentElement.dataset["theme"];
}

function getTheme(): Theme {
  const chosen = document.documentElement.dataset["theme"];
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function toggleTheme(): void {
  const theme = getTheme() === "dark" ? "light" : "dark";
  applyTheme(theme);
  reportFailure(writeValue("theme", theme));
}
