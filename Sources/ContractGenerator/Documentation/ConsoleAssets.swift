/// The style sheet and the script of the web console. The pages work without the script, which only adds live updates.
enum ConsoleAssets {
    static let style = """
        :root { color-scheme: light dark; --text: #1b2125; --soft: #58646d; --line: #dde3e7; --back: #f5f7f8; --card: #ffffff;
          --accent: #0b6e5a; --accent-text: #ffffff; --accent-soft: #e1f1ed; --hover: #eef2f4; --good: #146c43; --good-soft: #dff3e7;
          --bad: #b3261e; --bad-soft: #fce8e6; --warn: #7a4f01; --warn-soft: #fdf0d3; --info: #1d5fa8; --info-soft: #e4eefb;
          --p50: #0b6e5a; --p95: #b07400; --p99: #b3261e; }
        @media (prefers-color-scheme: dark) {
          :root { --text: #e4e9eb; --soft: #9dabb3; --line: #2f393f; --back: #12171a; --card: #1a2125; --accent: #5fd0b5;
            --accent-text: #0a1f1a; --accent-soft: #17332d; --hover: #232c31; --good: #79d9a4; --good-soft: #16342a; --bad: #ff9b92;
            --bad-soft: #45211f; --warn: #f0c674; --warn-soft: #3a2f16; --info: #8fc0f5; --info-soft: #1b2f47;
            --p50: #5fd0b5; --p95: #f0c674; --p99: #ff9b92; }
        }
        * { box-sizing: border-box; }
        html { -webkit-text-size-adjust: 100%; scroll-padding-top: 1rem; }
        body { margin: 0; color: var(--text); background: var(--back); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif;
          overflow-wrap: break-word; }
        a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: 0.18em; }
        a:hover { text-decoration-thickness: 2px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
        main:focus { outline: none; }
        code, pre, textarea { font-family: ui-monospace, "SF Mono", "Cascadia Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
        code { font-size: 0.875em; overflow-wrap: anywhere; }
        code.whole { overflow-wrap: normal; white-space: nowrap; }
        pre { background: var(--back); border: 1px solid var(--line); border-radius: 8px; padding: 0.7rem 0.85rem; margin: 0.35rem 0;
          overflow-x: auto; font-size: 0.82rem; line-height: 1.5; white-space: pre-wrap; overflow-wrap: anywhere; position: relative; }
        .skip { position: absolute; left: -100vw; background: var(--card); padding: 0.5rem 1rem; z-index: 3; }
        .skip:focus { left: 0; }
        .top { display: flex; align-items: center; flex-wrap: wrap; gap: 0.3rem 0.75rem; padding: 0.6rem 1rem; background: var(--card);
          border-bottom: 1px solid var(--line); }
        .brand { font-weight: 700; font-size: 1.0625rem; color: var(--text); text-decoration: none; letter-spacing: -0.01em; }
        .store { color: var(--soft); font-size: 0.875rem; margin-right: auto; overflow: hidden; text-overflow: ellipsis;
          white-space: nowrap; max-width: 40vw; }
        nav { display: flex; overflow-x: auto; gap: 0.15rem; padding: 0.4rem 0.6rem; background: var(--card);
          border-bottom: 1px solid var(--line); scrollbar-width: thin; }
        nav h2 { display: none; }
        nav a { flex: none; padding: 0.3rem 0.65rem; border-radius: 7px; color: var(--text); text-decoration: none; font-size: 0.9063rem; }
        nav a:hover { background: var(--hover); }
        nav a[aria-current] { background: var(--accent-soft); color: var(--accent); font-weight: 600; }
        main { flex: 1; min-width: 0; padding: 1.25rem 1rem 4rem; max-width: 76rem; }
        h1 { font-size: clamp(1.35rem, 1.15rem + 1vw, 1.75rem); line-height: 1.25; margin: 0 0 0.35rem; letter-spacing: -0.015em;
          overflow-wrap: anywhere; }
        h1 + :not(.lead) { margin-top: 0.9rem; }
        h1 code { font-size: 0.9em; }
        h2 { font-size: 1.0625rem; line-height: 1.3; margin: 1.75rem 0 0.6rem; }
        h2 small { font-weight: 400; color: var(--soft); }
        h3 { font-size: 0.8125rem; margin: 0.9rem 0 0; color: var(--soft); font-weight: 600; }
        p { margin: 0 0 0.8rem; }
        .lead { color: var(--soft); margin-bottom: 1.1rem; max-width: 46rem; }
        .soft { color: var(--soft); }
        .description { max-width: 46rem; }
        .card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1rem 1.1rem; margin: 0 0 1rem; }
        .card > h2:first-child { margin-top: 0; }
        .columns { display: grid; gap: 1rem; align-items: start; }
        .tiles { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(13.5rem, 44%), 1fr)); gap: 0.7rem; padding: 0;
          list-style: none;
          margin: 0 0 1.1rem; }
        .tiles a, .tile { display: block; background: var(--card); border: 1px solid var(--line); border-radius: 12px;
          padding: 0.7rem 0.9rem; text-decoration: none; color: inherit; }
        .tiles a:hover { border-color: var(--accent); }
        .tiles b { display: block; font-size: 1.5rem; line-height: 1.2; font-weight: 650; font-variant-numeric: tabular-nums;
          letter-spacing: -0.02em; }
        .tiles span span, .tiles a span { color: var(--soft); font-size: 0.8438rem; }
        .badge { display: inline-block; font-size: 0.75rem; line-height: 1.5; padding: 0.05rem 0.55rem; border-radius: 99px;
          background: var(--hover); color: var(--soft); font-weight: 550; white-space: nowrap; }
        .badge.good { background: var(--good-soft); color: var(--good); } .badge.bad { background: var(--bad-soft); color: var(--bad); }
        .badge.warn { background: var(--warn-soft); color: var(--warn); } .badge.info { background: var(--info-soft); color: var(--info); }
        .chips { display: flex; flex-wrap: wrap; gap: 0.3rem; }
        .chips > span { background: var(--hover); border-radius: 6px; padding: 0 0.45rem; }
        .warnings { padding: 0; margin: 0; list-style: none; }
        .warnings li { background: var(--warn-soft); color: var(--warn); border-radius: 8px; padding: 0.5rem 0.75rem; margin: 0 0 0.5rem;
          overflow-wrap: anywhere; }
        .table { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: 12px; margin: 0 0 1rem; }
        table { border-collapse: collapse; width: 100%; font-size: 0.9063rem; line-height: 1.45; }
        th, td { text-align: left; vertical-align: top; padding: 0.55rem 0.9rem; border-bottom: 1px solid var(--line); }
        td > div { min-width: 4.5rem; }
        th { font-size: 0.78rem; color: var(--soft); font-weight: 600; white-space: nowrap; background: var(--back); }
        tr:last-child td { border-bottom: 0; }
        tbody tr:hover { background: var(--hover); }
        td small { display: block; color: var(--soft); font-size: 0.78rem; }
        td form.inline { margin: -0.15rem 0; }
        td details pre { min-width: 18rem; }
        .details { display: inline-block; max-width: 24rem; color: var(--soft); }
        .number, time { font-variant-numeric: tabular-nums; white-space: nowrap; }
        tr.new { animation: arrive 2s ease-out; }
        @keyframes arrive { from { background: var(--accent-soft); } }
        .empty { border: 1px dashed var(--line); border-radius: 12px; padding: 2rem 1.25rem; text-align: center; color: var(--soft);
          margin: 0 0 1rem; background: var(--card); }
        .empty p { margin: 0 auto; max-width: 34rem; }
        .facts { margin: 0; }
        .facts > div { display: grid; grid-template-columns: minmax(8rem, 13rem) minmax(0, 1fr); gap: 0 1rem; padding: 0.32rem 0;
          border-top: 1px solid var(--line); }
        .facts > div:first-child { border-top: 0; }
        .facts > div.wide { display: block; }
        .facts > div.wide > dd { padding: 0.15rem 0 0.3rem 0.9rem; border-left: 2px solid var(--line); margin-top: 0.2rem; }
        .facts dd > .facts + .facts { border-top: 2px solid var(--line); }
        dt { color: var(--soft); font-size: 0.875rem; }
        dd { margin: 0; overflow-wrap: anywhere; }
        button, .button { font: inherit; font-size: 0.875rem; font-weight: 550; line-height: 1.4; padding: 0.36rem 0.85rem;
          border-radius: 8px; border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer;
          text-decoration: none; display: inline-block; }
        button:hover, .button:hover { border-color: var(--accent); color: var(--accent); }
        form.call > button, form.stack > button { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
        form.danger > button, .button.danger { background: transparent; color: var(--bad); border-color: var(--bad); }
        button:disabled, button:disabled:hover { background: var(--hover); border-color: var(--line); color: var(--soft);
          cursor: not-allowed; }
        input, select, textarea { font: inherit; color: inherit; background: var(--card); border: 1px solid #8a979f; border-radius: 8px;
          padding: 0.36rem 0.65rem; max-width: 100%; }
        input[type=checkbox] { width: 1rem; height: 1rem; vertical-align: -0.12rem; accent-color: var(--accent); }
        textarea { font-size: 0.82rem; resize: vertical; }
        ::placeholder { color: var(--soft); opacity: 1; }
        .actions, .pager, .bar, .search { display: flex; flex-wrap: wrap; gap: 0.5rem; align-items: center; margin: 0 0 1rem; }
        .bar { align-items: flex-start; justify-content: space-between; }
        .search input { flex: 1 1 14rem; max-width: 26rem; }
        label.inline { display: inline-flex; gap: 0.4rem; align-items: center; font-size: 0.9063rem; color: var(--soft); }
        form.call { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: 1.1rem; max-width: 48rem;
          margin: 0 0 1.1rem; }
        form.stack { display: grid; gap: 0.7rem; max-width: 30rem; margin: 0 0 1rem; }
        form.stack label { display: grid; gap: 0.2rem; font-size: 0.875rem; color: var(--soft); }
        form.stack > * { min-width: 0; }
        form.stack :is(input, select) { width: 100%; color: var(--text); }
        form.stack button { justify-self: start; }
        .set { margin: 0 0 0.6rem; } .set:last-child { margin-bottom: 1.4rem; }
        .set summary { overflow-wrap: anywhere; }
        .calls { display: grid; gap: 0 1rem; }
        .calls > div { min-width: 0; }
        .method { white-space: nowrap; }
        pre + .pager, section + .pager { margin-top: 1.2rem; }
        .filters summary, .set summary, details > summary { cursor: pointer; }
        .filters[open] { flex: 1; }
        .filters form { margin-top: 0.6rem; }
        .field { margin: 0 0 1rem; }
        .field > label { display: block; margin-bottom: 0.2rem; font-weight: 550; }
        .field > input:not([type=checkbox]), .field > textarea, .field > select, .entries input { width: 100%; }
        .box > label { font-weight: 400; }
        .entries { display: grid; gap: 0.35rem; }
        .entry { display: grid; grid-template-columns: minmax(5rem, 1fr) 2fr; gap: 0.35rem; align-items: center; }
        .boxes { display: flex; flex-wrap: wrap; gap: 0.3rem 1rem; }
        .hint { color: var(--soft); font-size: 0.8438rem; line-height: 1.45; margin: 0.25rem 0 0; }
        .need { color: var(--warn); font-size: 0.75rem; font-weight: 550; }
        .note { background: var(--info-soft); color: var(--info); border-radius: 8px; padding: 0.5rem 0.8rem; }
        .group { border: 1px solid var(--line); border-radius: 8px; padding: 0.5rem 0.85rem; margin: 0 0 1rem; }
        .group[open] > summary { margin-bottom: 0.6rem; }
        .group summary { font-weight: 550; }
        .outcome { border: 1px solid var(--line); border-left: 4px solid var(--good); border-radius: 10px; background: var(--card);
          padding: 0.85rem 1rem 0.5rem; margin: 0 0 1.1rem; }
        .outcome.bad { border-left-color: var(--bad); }
        .methods { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
        .methods li { padding: 0.5rem 0.9rem; border-top: 1px solid var(--line); }
        .methods li:first-child { border-top: 0; }
        .methods li > span:last-child { display: block; color: var(--soft); font-size: 0.875rem; }
        .code b { font-size: 1.75rem; letter-spacing: 0.14em; font-variant-numeric: tabular-nums; margin-left: 0.5rem; }
        .code span { color: var(--soft); }
        iframe { width: 100%; height: 20rem; border: 1px solid var(--line); border-radius: 12px; background: #ffffff; }
        progress { width: 100%; height: 0.8rem; accent-color: var(--accent); margin: 0.5rem 0 0.8rem; }
        .copy { position: absolute; top: 0.35rem; right: 0.35rem; font-size: 0.75rem; padding: 0.1rem 0.5rem; opacity: 0; }
        pre:hover .copy, .copy:focus { opacity: 1; }
        .picture { overflow-x: auto; }
        .picture svg { display: block; height: auto; max-width: 100%; }
        svg text { font: 12px system-ui, sans-serif; fill: var(--text); }
        svg a { text-decoration: none; }
        .node rect { fill: var(--card); stroke: #8a979f; }
        .node.account rect { fill: var(--accent-soft); stroke: var(--accent); stroke-width: 1.5; }
        .node.provider rect, .node.login rect { fill: var(--info-soft); stroke: var(--info); }
        .node.factor rect { fill: var(--warn-soft); stroke: var(--warn); }
        .node.session rect { fill: var(--good-soft); stroke: var(--good); }
        .node.mergedAccount rect { stroke-dasharray: 4 3; }
        .node a:hover rect, .node a:focus rect { stroke-width: 2.5; }
        .node .kind { font-weight: 600; }
        .node .label { font: 11px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: var(--soft); }
        .edge path { fill: none; stroke: #8a979f; stroke-width: 1.5; }
        .edge.began path, .edge.mergedInto path { stroke-dasharray: 4 3; }
        #arrow path { fill: #8a979f; stroke: none; }
        .relation { font-size: 11px; fill: var(--soft); paint-order: stroke; stroke: var(--card); stroke-width: 4px; }
        .plot { width: 100%; min-width: 30rem; }
        .plot .axis { font-size: 11px; fill: var(--soft); font-variant-numeric: tabular-nums; }
        .grid { stroke: var(--line); }
        .bars rect { fill: var(--accent); } .bars.errors rect { fill: var(--bad); }
        .line polyline { fill: none; stroke-width: 1.75; stroke-linejoin: round; }
        .p50 polyline { stroke: var(--p50); } .p95 polyline { stroke: var(--p95); } .p99 polyline { stroke: var(--p99); }
        .p50 circle { fill: var(--p50); } .p95 circle { fill: var(--p95); } .p99 circle { fill: var(--p99); }
        .keys .next { fill: var(--info); opacity: 0.55; } .keys .active { fill: var(--accent); }
        .keys .retired { fill: #8a979f; opacity: 0.6; }
        .legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; font-size: 0.8125rem; color: var(--soft); margin: 0 0 0.4rem; }
        .legend span::before { content: ""; display: inline-block; width: 0.8rem; height: 0.8rem; border-radius: 3px; margin-right: 0.35rem;
          vertical-align: -0.08rem; background: #8a979f; }
        .legend .p50::before, .legend .active::before { background: var(--p50); } .legend .p95::before { background: var(--p95); }
        .legend .p99::before { background: var(--p99); } .legend .next::before { background: var(--info); }
        .bare { display: grid; place-items: center; min-height: 100vh; padding: 1rem; }
        .bare main { flex: none; background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 1.5rem;
          max-width: 30rem; }
        @media (max-width: 44rem) {
          .picture svg[data-graph] { max-width: none; }
          .plot { min-width: 38rem; }
          .facts > div { grid-template-columns: minmax(0, 1fr); }
          table, tbody, tr, td { display: block; }
          thead { display: none; }
          tr { border-bottom: 1px solid var(--line); padding: 0.55rem 0.9rem; }
          tr:last-child { border-bottom: 0; }
          td { border: 0; padding: 0.12rem 0; display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: 0.5rem; }
          td::before { content: attr(data-head); color: var(--soft); font-size: 0.8125rem; }
          .method { white-space: normal; overflow-wrap: anywhere; }
          .store { max-width: 25vw; }
          td:first-child { display: block; font-weight: 550; }
          td:first-child::before { display: none; }
          td time { white-space: normal; }
        }
        @media (min-width: 60rem) {
          .frame { display: flex; align-items: flex-start; min-height: calc(100vh - 3.1rem); }
          nav { flex: 0 0 13.5rem; display: block; position: sticky; top: 0; min-height: calc(100vh - 3.1rem); max-height: 100vh;
            overflow-y: auto; padding: 0.9rem 0.7rem; border-bottom: 0; border-right: 1px solid var(--line); }
          nav a { display: block; margin-bottom: 0.1rem; }
          nav h2 { display: block; font-size: 0.72rem; text-transform: uppercase; letter-spacing: 0.06em; color: var(--soft);
            margin: 1rem 0 0.3rem 0.65rem; }
          main { padding: 1.6rem 2rem 4rem; }
          .columns, .calls { grid-template-columns: 1fr 1fr; }
        }
        @media (prefers-reduced-motion: reduce) { tr.new { animation: none; } }

        """

    static let script = """
        "use strict";
        (() => {
          const all = (selector, root = document) => [...root.querySelectorAll(selector)];

          // Times are in UTC; the local time is in the tooltip.
          const times = (root) => all("time[datetime]", root).forEach((time) => { time.title = new Date(time.dateTime).toLocaleString(); });

          const copies = (root) => all("pre[data-copy]", root).forEach((pre) => {
            if (!navigator.clipboard) return;
            const button = document.createElement("button");
            button.type = "button";
            button.className = "copy";
            button.textContent = "Copy";
            button.addEventListener("click", async () => {
              await navigator.clipboard.writeText(pre.firstChild.textContent);
              button.textContent = "Copied";
            });
            if (!pre.dataset.result && !pre.hasAttribute("data-result")) pre.append(button);
          });
          const place = document.querySelector("nav [aria-current]");
          if (place) place.parentElement.scrollLeft = place.offsetLeft - 60;
          times(document);
          copies(document);

          // Parts that change are fetched again.
          const live = async () => {
            const part = document.querySelector("[data-live]");
            if (!part) return;
            setTimeout(async () => {
              try {
                if (!document.hidden && !part.contains(document.activeElement)) {
                  const answer = await fetch(part.dataset.live);
                  if (answer.ok) {
                    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
                    const news = page.querySelector("[data-live]")
                      || (part.querySelector("progress") && page.querySelector("progress").parentElement);
                    if (news && news.innerHTML !== part.innerHTML) { times(news); part.replaceWith(news); }
                  }
                }
              } catch { /* The process has ended, or is busy. */ }
              live();
            }, 1000 * part.dataset.every);
          };
          live();

          // Finished requests.
          const rows = document.querySelector("tbody[data-events]");
          if (rows) {
            const events = new EventSource(rows.dataset.events);
            events.onmessage = (event) => {
              const holder = document.createElement("tbody");
              holder.innerHTML = event.data;
              const row = holder.firstElementChild;
              const known = rows.querySelector(`[data-request="${row.dataset.request}"]`);
              if (known) { known.replaceWith(row); } else { rows.prepend(row); row.className = "new"; }
              while (rows.children.length > 200) rows.lastElementChild.remove();
              times(rows);
              rows.closest(".table").hidden = false;
              document.getElementById("none").hidden = true;
            };
          }
        })();

        """
}
