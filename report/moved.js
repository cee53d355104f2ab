// An address of the time when all was one page leads to the page that has the anchor now.
function movedTo(hash) {
  const [kind, name] = hash.slice(1).split(":").map(decodeURIComponent);
  if (!hash || document.getElementById(hash.slice(1))) return "";
  if (["claims", "claim", "observation", "excluded"].includes(kind)) return "claims.html";
  const studies = [...document.querySelectorAll("nav [data-study]")];
  return studies.find((link) => link.dataset.study === name)?.getAttribute("href") ?? "";
}

function move() {
  const page = movedTo(location.hash);
  if (page) location.replace(page + location.hash);
}

addEventListener("hashchange", move);
move();
