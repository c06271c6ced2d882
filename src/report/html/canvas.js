// What the drawings of a page share: colours of the theme, a sharp canvas, a tooltip, words for numbers and names.
(function () {
  'use strict';
  const root = document.documentElement;

  function colour(name) {
    return getComputedStyle(root).getPropertyValue(name).trim();
  }

  // Calls back when the page's colours have changed.
  function onTheme(changed) {
    new MutationObserver(changed).observe(root, { attributes: true, attributeFilter: ['data-theme'] });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', changed);
  }

  function make(tag, attributes, children) {
    const element = document.createElement(tag);
    Object.entries(attributes || {}).forEach(function (entry) {
      if (entry[0] === 'text') element.textContent = entry[1];
      else if (entry[0].startsWith('on')) element.addEventListener(entry[0].slice(2), entry[1]);
      else element.setAttribute(entry[0], entry[1]);
    });
    (children || []).forEach(function (child) { element.append(child); });
    return element;
  }

  // A canvas as wide as its parent, in pixels of the screen; `resized` is called when the width changes.
  function sharpCanvas(stage, name, resized) {
    const canvas = make('canvas', { tabindex: '0', role: 'application', 'aria-label': name });
    const context = canvas.getContext('2d');
    const out = { element: canvas, context: context, width: 0, height: 0, ratio: 1 };
    out.setHeight = function (height) {
      out.width = stage.clientWidth;
      out.height = height;
      out.ratio = window.devicePixelRatio || 1;
      canvas.width = Math.max(1, Math.round(out.width * out.ratio));
      canvas.height = Math.max(1, Math.round(height * out.ratio));
      canvas.style.height = height + 'px';
      context.setTransform(out.ratio, 0, 0, out.ratio, 0, 0);
    };
    stage.append(canvas);
    new ResizeObserver(function () {
      if (stage.clientWidth !== out.width) resized();
    }).observe(stage);
    return out;
  }

  // Lines of text beside a place of the stage; no text of the data is ever read as markup.
  function tooltip(stage) {
    const box = make('div', { class: 'tip', hidden: '' });
    const drawing = stage.parentNode;
    drawing.append(box);
    return {
      show: function (lines, x, y) {
        box.replaceChildren.apply(box, lines.map(function (line) { return make('div', { text: line }); }));
        box.hidden = false;
        box.style.transform = 'none';
        const left = Math.max(4, Math.min(x + 14, drawing.clientWidth - box.offsetWidth - 4));
        box.style.transform = 'translate(' + left + 'px,' + (stage.offsetTop + y + 18) + 'px)';
      },
      hide: function () { box.hidden = true; }
    };
  }

  function threeDigits(value) {
    const size = Math.abs(value);
    return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
  }
  function duration(ns) {
    if (ns < 999.5) return ns.toFixed(0) + ' ns';
    if (ns < 999.5e3) return threeDigits(ns / 1e3) + ' µs';
    if (ns < 999.5e6) return threeDigits(ns / 1e6) + ' ms';
    return threeDigits(ns / 1e9) + ' s';
  }
  function bytes(count) {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    for (; count >= 1023.5 && unit + 1 < units.length; ++unit) count /= 1024;
    return (unit === 0 ? count.toFixed(0) : threeDigits(count)) + ' ' + units[unit];
  }
  // Bytes a nanosecond are gigabytes a second.
  function rate(count, ns) {
    return threeDigits(count / ns) + ' GB/s';
  }
  function share(part, whole) {
    const percent = whole > 0 ? 100 * part / whole : 0;
    return (percent >= 9.95 || percent === 0 ? percent.toFixed(0) : percent.toFixed(1)) + ' %';
  }
  function count(number) {
    return String(number).replace(/\B(?=(\d{3})+$)/g, '\u2009');
  }

  // As report/profile/kernel_name.cpp: without parameters and the namespaces that every name has.
  function shortName(name) {
    if (name.endsWith(')')) {
      let depth = 0;
      for (let at = name.length - 1; at > 0; --at) {
        if (name[at] === ')') ++depth;
        if (name[at] === '(' && --depth === 0) {
          name = name.slice(0, at);
          break;
        }
      }
    }
    return name.replace(/^void /, '').replace(/at::native::|\(anonymous namespace\)::|at::cuda::|cutlass::|pytorch_flash::|std::/g, '');
  }

  // "Mul (elementwise_kernel)": PyTorch's elementwise kernels and CUTLASS's differ in what they are made of.
  function label(name) {
    const short = shortName(name);
    const parts = /^(?:\w+::)*(\w+)<(.*)/.exec(short);
    if (!parts) return short;
    if (parts[1] === 'Kernel' || parts[1] === 'Kernel2') return parts[2].replace(/>$/, '');
    if (!/elementwise|reduce_kernel/.test(parts[1])) return short;
    const operation = [/(\w+)_kernel(?:_cuda|_impl)?\b/, /CUDAFunctor(?:On\w+?)?_(\w+)/, /launch_(\w+)/, /(\w+)Functor/,
      /func_wrapper_t<[^,]*, (\w+)/, /(\w+)Ops\b/]
      .map(function (pattern) {
        const found = Array.from(parts[2].matchAll(new RegExp(pattern, 'g')), function (match) { return match[1]; });
        return found.find(function (word) { return !/^(gpu|CUDA|[AB]?Unary|Binary|elementwise)$/.test(word); });
      }).find(Boolean);
    return operation ? operation + ' (' + parts[1] + ')' : short;
  }

  // As schema::module_class: "Block_#" of "Block_11".
  function moduleClass(name) {
    return name.replace(/(^|[ ._\-#(/:])\d+(?=$|[ ._\-)/:])/g, '$1#');
  }

  // What fits into so many pixels of the context's font.
  function fitted(context, text, width) {
    const size = context.measureText('0').width;
    if (text.length * size > 2 * width) text = text.slice(0, Math.ceil(2 * width / size));
    if (context.measureText(text).width <= width) return text;
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (context.measureText(text.slice(0, middle) + '…').width <= width) low = middle;
      else high = middle - 1;
    }
    return low > 1 ? text.slice(0, low) + '…' : '';
  }

  window.ridgelineCanvas = {
    colour: colour, onTheme: onTheme, make: make, sharpCanvas: sharpCanvas, tooltip: tooltip, duration: duration, bytes: bytes, rate: rate,
    share: share, count: count, label: label, shortName: shortName, moduleClass: moduleClass, fitted: fitted
  };
})();
