// Light, dark, or as the system has it: chosen once, remembered for all pages of this server.

import type { Theme } from "../bar";
import { remember, remembered } from "../memory";

export const THEMES: [Theme, string][] = [["auto", "As the system"], ["light", "Light"], ["dark", "Dark"]];

export function rememberedTheme(): Theme {
  const kept = remembered("clew-theme");
  return THEMES.find(([theme]) => theme === kept)?.[0] ?? "auto";
}

export function wear(theme: Theme): void {
  document.documentElement.dataset["theme"] = theme;
}

export function chooseTheme(theme: Theme): void {
  wear(theme);
  remember("clew-theme", theme);
}

export function nextTheme(theme: Theme): Theme {
  const at = THEMES.findIndex(([one]) => one === theme);
  return (THEMES[(at + 1) % THEMES.length] as [Theme, string])[0];
}
