/** Being dissolved: import these types from src/import/new-lead.ts. */
export * from "../import/new-lead.ts";
