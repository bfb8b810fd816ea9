/** Files that are not TypeScript, as the bundler imports them: their text, or the path of the file. */
declare module "*.css" {
  const content: string;
  export default content;
}
declare module "*.tgz" {
  const path: string;
  export default path;
}
declare module "*.py" {
  const text: string;
  export default text;
}
declare module "*.yaml" {
  const text: string;
  export default text;
}
declare module "*.md" {
  const text: string;
  export default text;
}
declare module "*.browser.js" {
  const text: string;
  export default text;
}
declare module "swagger-ui-dist/swagger-ui-bundle.js" {
  const path: string;
  export default path;
}
