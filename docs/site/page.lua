-- page.lua
--     What a page of the site needs beside what pandoc makes of Markdown: links between pages, tables that scroll, the
--     first heading as title, and no comments.

-- A link to a page of Markdown is one to what is made of it.
local function target(link)
  if link:match('^%a+:') or link:match('^#') then return link end
  local path, anchor = link:match('^([^#]*)(.*)$')
  path = path:gsub('^README%.md$', 'index.html'):gsub('/README%.md$', '/index.html'):gsub('%.md$', '.html')
  return path .. anchor
end

function Link(element)
  element.target = target(element.target)
  return element
end

function Table(element)
  return pandoc.Div(element, pandoc.Attr('', { 'table' }))
end

function RawBlock(element)
  if element.format == 'html' and element.text:match('^%s*<!%-%-') then return {} end
end

function Pandoc(document)
  for _, block in ipairs(document.blocks) do
    if block.t == 'Header' then
      document.meta.title = pandoc.utils.stringify(block)
      break
    end
  end
  return document
end
