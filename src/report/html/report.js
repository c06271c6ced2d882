// Draws the charts from the JSON in #charts with ECharts; the page is complete without it.
// The vocabulary of the options is described in src/report/charts/chart_parts.hpp.
(function () {
  'use strict';
  var root = document.documentElement;
  var mounted = [];

  function colour(role) {
    return getComputedStyle(root).getPropertyValue(role).trim();
  }
  function roleColour(role) {
    return colour('--chart-' + role) || colour('--ink');
  }

  // Tooltips are DOM nodes with text content: no text of the data is ever read as markup.
  function tipNode(lines) {
    var box = document.createElement('div');
    box.style.maxWidth = '21rem';
    box.style.whiteSpace = 'normal';
    box.style.overflowWrap = 'anywhere';
    lines.forEach(function (line, index) {
      var row = document.createElement('div');
      row.textContent = line;
      if (index === 0) row.style.fontWeight = '600';
      box.appendChild(row);
    });
    return box;
  }

  function fixed(decimals) {
    return function (value) {
      return Number(value).toFixed(decimals);
    };
  }

  // The interval of a point, upright. Data: [x, low, high].
  function upright(series) {
    return function (params, api) {
      var low = api.coord([api.value(0), Math.max(api.value(1), series.from)]);
      var high = api.coord([api.value(0), Math.min(api.value(2), series.to)]);
      var stroke = { stroke: roleColour(series.role), lineWidth: 1.5, fill: null };
      return {
        type: 'group',
        children: [[low[0], low[1], high[0], high[1]], [low[0] - 5, low[1], low[0] + 5, low[1]], [high[0] - 5, high[1], high[0] + 5, high[1]]]
          .map(function (ends) { return { type: 'line', shape: { x1: ends[0], y1: ends[1], x2: ends[2], y2: ends[3] }, style: stroke }; })
      };
    };
  }

  // A value beyond the axis: an arrow at the end of the axis, with the value.
  function beyondMark(series, params, y, value, isLow) {
    var edge = isLow ? params.coordSys.x : params.coordSys.x + params.coordSys.width;
    var inward = isLow ? 1 : -1;
    return {
      type: 'group',
      children: [
        { type: 'polygon', shape: { points: [[edge, y], [edge + 9 * inward, y - 6], [edge + 9 * inward, y + 6]] },
          style: { fill: roleColour(series.role) } },
        { type: 'text', x: edge + 14 * inward, y: y,
          style: { text: fixed(series.decimals)(value), fill: colour('--soft'), fontSize: 12, align: isLow ? 'left' : 'right', verticalAlign: 'middle',
            fontFamily: getComputedStyle(document.body).fontFamily } }
      ]
    };
  }

  // One interval: a line with caps and a dot. Data: [row, value, low, high]. An end beyond the axis has no cap, here and in a box.
  function whisker(series) {
    return function (params, api) {
      var row = api.value(0);
      var middle = api.coord([api.value(1), row]);
      if (api.value(1) < series.from || api.value(1) > series.to)
        return beyondMark(series, params, middle[1], api.value(1), api.value(1) < series.from);
      var low = api.coord([Math.max(api.value(2), series.from), row]);
      var high = api.coord([Math.min(api.value(3), series.to), row]);
      var stroke = { stroke: roleColour(series.role), lineWidth: 2, fill: null };
      function line(x1, y1, x2, y2) {
        return { type: 'line', shape: { x1: x1, y1: y1, x2: x2, y2: y2 }, style: stroke };
      }
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: low[0] - 8, y: middle[1] - 11, width: high[0] - low[0] + 16, height: 22 },
            style: { fill: 'rgba(0,0,0,0)' } },
          line(low[0], middle[1], high[0], middle[1]),
          line(low[0], middle[1] - (api.value(2) < series.from ? 0 : 5), low[0], middle[1] + (api.value(2) < series.from ? 0 : 5)),
          line(high[0], middle[1] - (api.value(3) > series.to ? 0 : 5), high[0], middle[1] + (api.value(3) > series.to ? 0 : 5)),
          { type: 'circle', shape: { cx: middle[0], cy: middle[1], r: 4.5 }, style: { fill: roleColour(series.role) } }
        ]
      };
    };
  }

  // Quantiles of a sample. Data: [row, p5, p25, p50, p75, p95].
  function box(series) {
    return function (params, api) {
      var row = api.value(0);
      var median = api.value(3);
      var at = [1, 2, 3, 4, 5].map(function (i) { return api.coord([Math.min(Math.max(api.value(i), series.from), series.to), row]); });
      var y = at[0][1];
      if (median < series.from || median > series.to) return beyondMark(series, params, y, median, median < series.from);
      var half = Math.min(9, Math.abs(api.size([0, 1])[1]) * 0.32);
      var main = roleColour(series.role);
      function capOf(i) { return api.value(i) < series.from || api.value(i) > series.to ? 0 : half / 2; }
      function line(x1, y1, x2, y2, width, stroke) {
        return { type: 'line', shape: { x1: x1, y1: y1, x2: x2, y2: y2 }, style: { stroke: stroke, lineWidth: width } };
      }
      return {
        type: 'group',
        children: [
          line(at[0][0], y, at[4][0], y, 1.5, main),
          line(at[0][0], y - capOf(1), at[0][0], y + capOf(1), 1.5, main),
          line(at[4][0], y - capOf(5), at[4][0], y + capOf(5), 1.5, main),
          { type: 'rect', shape: { x: at[1][0], y: y - half, width: Math.max(1, at[3][0] - at[1][0]), height: 2 * half, r: 2 },
            style: { fill: main } },
          line(at[2][0], y - half, at[2][0], y + half, 2.5, colour('--page'))
        ]
      };
    };
  }

  var drawings = { box: box, whisker: whisker, upright: upright };
  var symbols = { failed: 'path://M2,0 L5,3 L8,0 L10,2 L7,5 L10,8 L8,10 L5,7 L2,10 L0,8 L3,5 L0,2 Z', rejected: 'triangle', current: 'diamond' };

  function readySeries(series) {
    var main = roleColour(series.role);
    series.itemStyle = { color: main };
    if (series.renderItem) series.renderItem = drawings[series.renderItem](series);
    if (series.type === 'line') {
      series.lineStyle = { color: main, width: series.role === 'other' ? 1.5 : 2.25, opacity: series.role === 'front' ? 0.75 : 1 };
      series.silent = true;
      series.z = series.role === 'other' || series.role === 'front' ? 2 : 3;
    }
    if (series.type === 'scatter') {
      series.symbol = symbols[series.role] || 'circle';
      series.symbolSize = series.role === 'best' || series.role === 'current' ? 14 : 9;
      series.z = series.role === 'best' || series.role === 'current' ? 4 : 3;
    }
    if (series.small) Object.assign(series, { symbol: 'circle', symbolSize: 5 });
    if (series.marks)
      series.label = { show: true, position: 'top', offset: [-8, 3], color: colour('--soft'), fontSize: 11,
        formatter: function (item) { return item.data.mark; } };
    if (series.markLine)
      Object.assign(series.markLine, { symbol: 'none', silent: true, label: { show: false },
        lineStyle: { color: colour('--soft'), type: 'dashed', width: 1 } });
  }

  function valuesOn(option, key, index) {
    var out = [];
    option.series.forEach(function (series) {
      if ((series[key + 'Index'] || 0) !== index) return;
      var places = series.type === 'custom' ? series.encode[key.charAt(0)] : key === 'xAxis' ? 0 : 1;
      series.data.forEach(function (datum) {
        var value = Array.isArray(datum) ? datum : datum.value;
        [].concat(places).forEach(function (place) {
          if (typeof value[place] === 'number') out.push(value[place]);
        });
      });
      if (series.markLine) series.markLine.data.forEach(function (line) { if (line[key] !== undefined) out.push(line[key]); });
    });
    return out;
  }

  // Those of points with an interval, which may be wide: then it goes on beyond the axis.
  function withIntervals(option, key, values) {
    var low = Math.min.apply(null, values);
    var high = Math.max.apply(null, values);
    var margin = Math.max(high - low, 0.1 * Math.abs(high));
    option.series.forEach(function (series) {
      series.data.forEach(function (datum) {
        if (!datum.interval || key !== 'yAxis') return;
        values.push(Math.max(datum.interval[0], low - margin), Math.min(datum.interval[1], high + margin));
      });
    });
    return values;
  }

  // The points' intervals as series of their own, of the same name in the legend.
  function intervalSeries(option) {
    var out = [];
    option.series.forEach(function (series) {
      var data = series.type !== 'scatter' ? [] : series.data.filter(function (datum) { return datum.interval; }).map(function (datum) {
        return [datum.value[0]].concat(datum.interval);
      });
      var axis = [].concat(option.yAxis)[series.yAxisIndex || 0];
      if (data.length)
        out.push({ type: 'custom', renderItem: 'upright', name: series.name, role: series.role, encode: { x: 0, y: [1, 2] }, silent: true, data: data,
          from: axis.min, to: axis.max });
    });
    return out;
  }

  // Ends of an axis at round numbers. It starts at zero unless that squeezes the values into its upper half, and spans at least a fifth of
  // them, or a tie would look like a difference. axis.from and axis.to: what of the values matters.
  function fitAxis(option, key, index, axis, ticks) {
    var values = valuesOn(option, key, index);
    if (!values.length) return;
    values = withIntervals(option, key, values);
    var low = axis.from !== undefined ? axis.from : Math.min.apply(null, values);
    var high = axis.to !== undefined ? axis.to : Math.max.apply(null, values);
    var positive = low >= 0;
    if (positive && low <= high / 2) low = 0;
    var lacking = Math.abs(low + high) / 2 * 0.2 - (high - low);
    if (lacking > 0) { low -= lacking / 2; high += lacking / 2; }
    if (high === low) high = low + 1;
    var rough = Math.max((high - low) / ticks, axis.decimals !== undefined ? Math.pow(10, -axis.decimals) : 0);
    var power = Math.pow(10, Math.floor(Math.log10(rough)));
    var step = [1, 2, 5, 10].find(function (factor) { return factor * power >= rough * 0.999; }) * power;
    axis.min = Number((Math.floor(low / step + 1e-9) * step).toPrecision(12));
    axis.max = Number((Math.ceil(high / step - 1e-9) * step).toPrecision(12));
    axis.interval = step;
  }

  // Points beyond the vertical axis are arrows at its end, those beyond the horizontal one at its side.
  function clampPoints(option, series) {
    var x = [].concat(option.xAxis)[series.xAxisIndex || 0];
    var y = [].concat(option.yAxis)[series.yAxisIndex || 0];
    series.data.forEach(function (datum) {
      if (!datum.value) return;
      [[x, 0, 90, -90, 'right', 'left'], [y, 1, 180, 0, 'top', 'bottom']].forEach(function (side) {
        var axis = side[0];
        var value = datum.value[side[1]];
        if (axis.type !== 'value' || axis.from === undefined || (value >= axis.min && value <= axis.max)) return;
        datum.value[side[1]] = value < axis.min ? axis.min : axis.max;
        series.labelLayout = { hideOverlap: true };
        datum.symbol = 'triangle';
        datum.symbolSize = 10;
        datum.symbolRotate = value < axis.min ? side[2] : side[3];
        datum.symbolOffset = side[1] === 0 ? [value < axis.min ? 6 : -6, 0] : [0, value < axis.min ? -6 : 6];
        datum.label = { show: true, position: value < axis.min ? side[4] : side[5], color: colour('--soft'), fontSize: 12,
          formatter: fixed(axis.decimals || 0)(value) };
      });
    });
  }

  function readyAxis(axis, vertical, wide) {
    var soft = colour('--soft');
    axis.axisLine = { show: !vertical || axis.type === 'category', lineStyle: { color: colour('--line-strong') } };
    axis.axisTick = { show: false };
    axis.splitLine = { show: axis.type === 'value' && axis.show !== false, lineStyle: { color: colour('--line') } };
    axis.axisLabel = { color: soft, fontSize: 12, hideOverlap: true };
    if (axis.bare) axis.axisLabel.show = false;
    if (axis.decimals !== undefined) {
      axis.axisLabel.formatter = fixed(axis.decimals);
      if (axis.type === 'value') axis.minInterval = Math.pow(10, -axis.decimals);   // no two ticks with one label
    }
    if (axis.type === 'value' && !vertical) axis.splitNumber = wide ? 6 : 3;
    if (axis.name) {
      axis.nameTextStyle = { color: soft, fontSize: 12, align: vertical ? 'left' : 'center', padding: vertical ? [0, 0, 2, -30] : 0 };
      axis.nameLocation = vertical ? 'end' : 'middle';
      axis.nameGap = vertical ? 12 : 30;
    }
    if (axis.labels) {
      axis.axisLabel.width = wide ? 330 : axis.labels === 'setting' ? 130 : 60;
      axis.axisLabel.overflow = 'truncate';   // a row is one line high; the tooltip has the whole text
      axis.axisLabel.fontSize = wide ? 11 : 12;
      axis.axisLabel.lineHeight = 13;
      axis.axisLabel.hideOverlap = false;
      axis.axisLabel.interval = 0;
      axis.axisLabel.color = colour('--ink');
      if (axis.labels === 'trial')
        axis.axisLabel.formatter = function (text) {
          var parts = text.split('\n');
          return wide ? parts[0] + '  ' + parts[1] : parts[0];
        };
    }
  }

  // Plots above each other share their left edge, so that their times line up.
  function panelGrids(count, height) {
    var top = 58;
    var gap = 34;
    var each = (height - top - 46 - gap * (count - 1)) / count;
    var grids = [];
    for (var i = 0; i < count; ++i) grids.push({ left: 48, right: 20, top: top + i * (each + gap), height: each });
    return grids;
  }

  function ready(option, element) {
    var wide = element.clientWidth >= 640;
    option = JSON.parse(JSON.stringify(option));
    option.series = option.series.filter(function (series) { return series.data.length > 0; });   // the legend names none that is not there
    ['xAxis', 'yAxis'].forEach(function (key) {
      var vertical = key === 'yAxis';
      [].concat(option[key]).forEach(function (axis, index) {
        readyAxis(axis, vertical, wide);
        if (axis.type === 'value' && axis.scale) fitAxis(option, key, index, axis, option.panels ? 3 : vertical ? 5 : wide ? 6 : 3);
      });
    });
    intervalSeries(option).forEach(function (series) { option.series.push(series); });
    option.series.forEach(function (series) {
      var axis = [].concat(option.xAxis)[series.xAxisIndex || 0];
      if (series.type === 'custom' && series.renderItem !== 'upright') Object.assign(series, { from: axis.min, to: axis.max, decimals: axis.decimals || 0 });
      if (series.type === 'scatter') clampPoints(option, series);
      readySeries(series);
    });
    var rows = [].concat(option.yAxis)[0].type === 'category';
    option.grid = { left: 8, right: 20, top: rows ? 36 : 58, bottom: 34, containLabel: true };
    if (option.panels) option.grid = panelGrids(option.panels, element.clientHeight);
    if (option.panels) option.yAxis.forEach(function (axis) { axis.splitNumber = 3; });
    delete option.panels;
    option.legend = { show: option.series.length > 1, top: 0, left: 0, type: 'scroll', itemWidth: 12, itemHeight: 10, itemGap: 16,
      icon: 'roundRect', textStyle: { color: colour('--soft'), fontSize: 12 }, pageTextStyle: { color: colour('--soft') },
      pageIconColor: colour('--accent') };
    option.tooltip = { trigger: 'item', confine: true, backgroundColor: colour('--page'), borderColor: colour('--line-strong'),
      textStyle: { color: colour('--ink'), fontSize: 13, fontFamily: getComputedStyle(document.body).fontFamily },
      formatter: function (item) { return item.data && item.data.tip ? tipNode(item.data.tip) : ''; } };
    option.textStyle = { fontFamily: getComputedStyle(document.body).fontFamily };
    option.animation = false;
    return option;
  }

  function showTrial(id) {
    if (document.getElementById('trial-' + Number(id))) location.hash = 'trial-' + Number(id);
  }

  // Within a closed section there is no width to draw for: that is done when it opens.
  function draw(entry) {
    var width = entry.element.clientWidth;
    if (width === 0 || entry.element.closest('details:not([open])')) return;
    if (!entry.plot) {
      entry.plot = echarts.init(entry.element, null, { renderer: 'svg' });
      entry.plot.on('click', function (item) { if (item.data && item.data.trial) showTrial(item.data.trial); });
    } else if (width !== entry.width) {
      entry.plot.resize();
    }
    entry.width = width;
    entry.plot.setOption(ready(entry.option, entry.element), true);
  }
  function redraw() {
    mounted.forEach(draw);
  }
  function drawIfResized(entry) {
    if (!entry.plot || entry.element.clientWidth !== entry.width) draw(entry);
  }

  function mount() {
    var data = document.getElementById('charts');
    if (!data || typeof echarts === 'undefined') return;
    root.classList.add('charts');
    var options = JSON.parse(data.textContent);
    Array.prototype.forEach.call(document.querySelectorAll('[data-chart]'), function (element) {
      var option = options[element.getAttribute('data-chart')];
      if (!option) return;
      var entry = { element: element, option: option };
      mounted.push(entry);
      draw(entry);
      if (typeof ResizeObserver !== 'undefined') new ResizeObserver(function () { drawIfResized(entry); }).observe(element);
    });
    document.addEventListener('toggle', function () { mounted.forEach(drawIfResized); }, true);
  }

  // Sections that are closed until asked for: by a click, a link to what is in them, "Expand all", or printing.
  function folds() {
    var all = Array.prototype.slice.call(document.querySelectorAll('main details'));
    var button = document.querySelector('.unfold');
    if (!button) return;
    function isClosed(one) { return !one.open; }
    function label() { button.textContent = all.some(isClosed) ? 'Expand all' : 'Collapse all'; }
    // Whether something had to be opened.
    function reveal(hash) {
      var target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
      if (!target) return false;
      var inside = all.filter(function (one) { return !one.open && (one.contains(target) || one.parentNode === target); });
      inside.forEach(function (one) { one.open = true; });
      if (inside.length) redraw();
      return inside.length > 0 && target;
    }
    function follow() {
      var target = reveal(location.hash);
      if (target) target.scrollIntoView();
    }
    button.hidden = false;
    label();
    button.addEventListener('click', function () {
      var open = all.some(isClosed);
      all.forEach(function (one) { one.open = open; });
    });
    document.addEventListener('toggle', label, true);
    document.addEventListener('click', function (event) {
      var link = event.target.closest('a[href^="#"]');
      if (link) reveal(link.hash);
    });
    window.addEventListener('hashchange', follow);
    follow();
    var opened = [];
    window.addEventListener('beforeprint', function () {
      opened = all.filter(isClosed);
      opened.forEach(function (one) { one.open = true; });
    });
    window.addEventListener('afterprint', function () { opened.forEach(function (one) { one.open = false; }); });
  }

  function themes() {
    var system = window.matchMedia ? window.matchMedia('(prefers-color-scheme: dark)') : { matches: false };
    var button = document.querySelector('.theme');
    function dark() {
      return root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
    }
    function label() {
      button.textContent = dark() ? 'Light' : 'Dark';
      button.setAttribute('aria-label', 'Switch to ' + (dark() ? 'light' : 'dark') + ' colours');
    }
    button.hidden = false;
    label();
    button.addEventListener('click', function () {
      root.dataset.theme = dark() ? 'light' : 'dark';
      label();
      redraw();
    });
    if (system.addEventListener) system.addEventListener('change', function () { label(); redraw(); });
    var before;
    window.addEventListener('beforeprint', function () { before = root.dataset.theme; root.dataset.theme = 'light'; redraw(); });
    window.addEventListener('afterprint', function () {
      if (before) root.dataset.theme = before; else delete root.dataset.theme;
      redraw();
    });
  }

  function copies() {
    if (!navigator.clipboard) return;
    Array.prototype.forEach.call(document.querySelectorAll('.code'), function (block) {
      var button = document.createElement('button');
      button.type = 'button';
      button.className = 'copy';
      button.textContent = 'Copy';
      button.addEventListener('click', function () {
        navigator.clipboard.writeText(block.querySelector('code').textContent).then(function () {
          button.textContent = 'Copied';
          setTimeout(function () { button.textContent = 'Copy'; }, 1500);
        }, function () { button.textContent = 'Not allowed here'; });
      });
      block.appendChild(button);
    });
  }

  // "1.2 ms", "3.4 MiB", "12 %", "1 m 05 s" as a number; NaN of what is none.
  var units = { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, m: 60, h: 3600, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776,
    k: 1e3, M: 1e6, G: 1e9, T: 1e12, kB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KFLOP: 1e3, MFLOP: 1e6, GFLOP: 1e9, TFLOP: 1e12 };
  function valueOf(text) {
    var parts = /^([+\-−]?)(\d[\d,]*\.?\d*)\s*([^\s\d/]*)(?:\s+(\d+) ([ms])$)?/.exec(text.trim());
    if (!parts) return NaN;
    var value = Number(parts[2].replace(/,/g, '')) * (units[parts[3]] || 1);
    if (parts[4]) value += Number(parts[4]) * (units[parts[5]] || 1);
    return parts[1] && parts[1] !== '+' ? -value : value;
  }

  function sortRows(rows, column, numbers, up) {
    var keyed = rows.map(function (row, place) {
      var text = row.cells[column] ? row.cells[column].textContent.trim() : '';
      var value = numbers ? valueOf(text) : text;
      return { row: row, place: place, value: value, absent: numbers ? isNaN(value) : text === '' || text === '–' };
    });
    keyed.sort(function (a, b) {
      if (a.absent || b.absent) return a.absent - b.absent || a.place - b.place;   // at the end, whichever way
      var by = numbers ? a.value - b.value : a.value.localeCompare(b.value, undefined, { numeric: true });
      return (up ? by : -by) || a.place - b.place;
    });
    return keyed.map(function (one) { return one.row; });
  }

  // A header sorts by its column, then the other way round, then as it was. Trees, whose rows are indented, stay trees.
  function sortable(table) {
    var body = table.tBodies[0];
    var rows = Array.prototype.slice.call(body.rows);
    var isTree = rows.some(function (row) { return row.cells[0].textContent.charAt(0) === '\u00a0'; });
    if (rows.length < 3 || isTree) return;
    var heads = Array.prototype.slice.call(table.tHead.rows[0].cells);
    heads.forEach(function (head, column) {
      var numbers = head.classList.contains('right');
      var orders = numbers ? ['descending', 'ascending'] : ['ascending', 'descending'];
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.textContent = '';
      head.appendChild(button);
      button.addEventListener('click', function () {
        var order = orders[orders.indexOf(head.getAttribute('aria-sort')) + 1];
        heads.forEach(function (other) { other.removeAttribute('aria-sort'); });
        if (order) head.setAttribute('aria-sort', order);
        (order ? sortRows(rows, column, numbers, order === 'ascending') : rows).forEach(function (row) { body.appendChild(row); });
      });
    });
  }

  function follow() {
    if (typeof IntersectionObserver === 'undefined') return;
    var links = {};
    Array.prototype.forEach.call(document.querySelectorAll('nav a'), function (link) { links[link.hash.slice(1)] = link; });
    var watcher = new IntersectionObserver(function (entries) {
      entries.forEach(function (entry) {
        if (!entry.isIntersecting || !links[entry.target.id]) return;
        Object.keys(links).forEach(function (id) { links[id].classList.toggle('here', id === entry.target.id); });
      });
    }, { rootMargin: '-10% 0px -80% 0px' });
    Array.prototype.forEach.call(document.querySelectorAll('main section'), function (section) { watcher.observe(section); });
  }

  mount();
  folds();   // opens for a printer before themes() draws for it
  themes();
  copies();
  Array.prototype.forEach.call(document.querySelectorAll('figure.table table'), sortable);
  follow();
})();
