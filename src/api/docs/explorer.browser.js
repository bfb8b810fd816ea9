// Starts Swagger UI on the description of this very server, whatever address the reader came by.

const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();

const explorer = document.getElementById("explorer");
const key = document.getElementById("key");
key.form.addEventListener("submit", (event) => event.preventDefault());

const description = await (await fetch("/openapi.json")).json();
description.servers = [{ url: location.origin }];
// The field above replaces the dialog of Swagger UI.
delete description.security;
// /docs explains errors and headers. Here the real response is shown.
for (const { get } of Object.values(description.paths)) {
  const { description: text, content } = get.responses["200"];
  get.responses = { 200: { description: text, content } };
}

SwaggerUIBundle({
  spec: description,
  domNode: explorer,
  // The key is only in its field: in no storage, no address, and not in the curl line that is shown.
  requestInterceptor(request) {
    const secret = key.value.trim();
    if (secret === "" || request.loadSpec) return request;
    request.headers.Authorization = "Bearer <API_KEY>";
    request.userFetch = (url, options) =>
      fetch(url, { ...options, headers: { ...options.headers, Authorization: `Bearer ${secret}` } });
    return request;
  },
  defaultModelsExpandDepth: -1,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  validatorUrl: null,
});

// /docs links to each operation. The deep links of Swagger UI would be inside buttons.
let linked = location.hash.slice(1);

// Opens the operation of the link once, and adds the names and tab stops that Swagger UI leaves out.
function complete() {
  const operation = linked === "" ? null : document.getElementById(linked);
  if (operation !== null) {
    linked = "";
    operation.querySelector(".opblock-summary-control").click();
    operation.scrollIntoView();
  }
  for (const choice of explorer.querySelectorAll("select:not([aria-label])")) {
    const { paramName = "the answer" } = choice.closest("tr")?.dataset ?? {};
    choice.setAttribute("aria-label", `Value or type of ${paramName}`);
  }
  for (const block of explorer.querySelectorAll("pre:not([tabindex])")) block.setAttribute("tabindex", "0");
}
new MutationObserver(complete).observe(explorer, { childList: true, subtree: true });
