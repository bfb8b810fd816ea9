/** The type of an extension for a checkout without its folder: TypeScript uses it only if the file is missing. */
declare module "*/extension.ts" {
  export const extension: import("./contributions.ts").Contributions;
}
