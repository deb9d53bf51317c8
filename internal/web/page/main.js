// Boots the page.
export function main() {
  const data = JSON.parse(document.getElementById("data").textContent);
  document.getElementById("app").textContent = data.report.totals.why;
}

main();
