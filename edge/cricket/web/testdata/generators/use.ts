// What an app would write over the generated types.
import type { components, operations } from "./api";

type Match = components["schemas"]["Match"];
type Page = operations["listMatches"]["responses"]["200"]["content"]["application/json"];
type Problem = components["schemas"]["APIError"];

export function titles(page: Page): string[] {
  return page.items.map((m: Match) => m.teams.map((t) => t.code).join(" v ") + (m.phase === "live" ? " (live)" : ""));
}

export function why(problem: Problem): string {
  const details = problem.error.details;
  return Array.isArray(details) ? details.map((d) => d.field + " " + d.message).join("; ") : problem.error.message;
}

// @ts-expect-error: a match has no such phase
export const wrong: Match["phase"] = "lunch";
