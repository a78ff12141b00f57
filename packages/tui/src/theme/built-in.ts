/**
 * The themes that come with the package. Their text keeps a contrast of 4.5:1 on all panels and on the usual backgrounds of
 * terminals, that of `high-contrast` 7:1; the tests compute it.
 */
import { assignRoles } from "./roles.ts";
import type { ThemeDefinition } from "./tokens.ts";

const dark: ThemeDefinition = {
  name: "dark",
  appearance: "dark",
  colors: assignRoles({
    text: "okhsl(75 12% 89%)",
    muted: "okhsl(75 7% 70%)",
    dim: "okhsl(75 6% 64%)",
    line: "okhsl(75 8% 48%)",
    faintLine: "okhsl(75 8% 35%)",
    accent: "okhsl(185 75% 70%)",
    red: "okhsl(22 85% 69%)",
    green: "okhsl(140 55% 70%)",
    yellow: "okhsl(78 75% 75%)",
    blue: "okhsl(250 80% 72%)",
    magenta: "okhsl(330 60% 73%)",
    cyan: "okhsl(222 65% 73%)",
    selected: "okhsl(190 45% 18%)",
    userPanel: "okhsl(75 10% 15%)",
    customPanel: "okhsl(325 22% 16%)",
    pendingPanel: "okhsl(240 14% 14%)",
    successPanel: "okhsl(145 25% 13%)",
    errorPanel: "okhsl(22 35% 14%)",
    match: "okhsl(80 85% 66%)",
    matchText: "#000000",
  }),
  export: { pageBg: "okhsl(75 8% 8%)", cardBg: "okhsl(75 9% 11%)", infoBg: "okhsl(80 30% 15%)" },
};

const light: ThemeDefinition = {
  name: "light",
  appearance: "light",
  colors: assignRoles({
    text: "okhsl(60 20% 16%)",
    muted: "okhsl(60 8% 38%)",
    dim: "okhsl(60 7% 42%)",
    line: "okhsl(60 9% 58%)",
    faintLine: "okhsl(60 10% 75%)",
    accent: "okhsl(195 95% 36%)",
    red: "okhsl(24 85% 42%)",
    green: "okhsl(143 85% 35%)",
    yellow: "okhsl(65 95% 36%)",
    blue: "okhsl(255 80% 42%)",
    magenta: "okhsl(330 70% 41%)",
    cyan: "okhsl(228 85% 38%)",
    selected: "okhsl(190 40% 91%)",
    userPanel: "okhsl(70 30% 94%)",
    customPanel: "okhsl(325 50% 94%)",
    pendingPanel: "okhsl(240 35% 95%)",
    successPanel: "okhsl(145 45% 94%)",
    errorPanel: "okhsl(22 60% 94%)",
    match: "okhsl(85 95% 80%)",
    matchText: "#000000",
  }),
  export: { pageBg: "okhsl(70 35% 98%)", cardBg: "#ffffff", infoBg: "okhsl(85 70% 94%)" },
};

const highContrast: ThemeDefinition = {
  name: "high-contrast",
  appearance: "dark",
  colors: assignRoles({
    text: "#ffffff",
    muted: "okhsl(230 15% 86%)",
    dim: "okhsl(230 12% 81%)",
    line: "okhsl(230 20% 75%)",
    faintLine: "okhsl(230 15% 58%)",
    accent: "okhsl(195 95% 85%)",
    red: "okhsl(18 95% 80%)",
    green: "okhsl(142 90% 82%)",
    yellow: "okhsl(100 95% 88%)",
    blue: "okhsl(245 95% 82%)",
    magenta: "okhsl(330 90% 83%)",
    cyan: "okhsl(175 90% 86%)",
    selected: "okhsl(255 85% 22%)",
    userPanel: "okhsl(255 30% 15%)",
    customPanel: "okhsl(325 55% 15%)",
    pendingPanel: "okhsl(230 10% 12%)",
    successPanel: "okhsl(145 70% 13%)",
    errorPanel: "okhsl(22 75% 15%)",
    match: "okhsl(100 100% 85%)",
    matchText: "#000000",
  }),
  export: { pageBg: "#000000", cardBg: "okhsl(230 10% 10%)", infoBg: "okhsl(255 45% 16%)" },
};

export const builtInThemes: readonly ThemeDefinition[] = [dark, light, highContrast];
