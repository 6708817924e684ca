"""The pages of the Chinese site: short notes on towns and companies, names in Latin letters as papers there print foreign names."""

from __future__ import annotations

from littleweb.blocks import Document, Text
from littleweb.facts import Entity
from littleweb.saying import tell

INTRODUCTIONS = {
    "town": "{s}是岛上一座安静的小镇，街道不宽，房屋多为石砌，"
    "游人常在市集旁的长椅上歇脚。本报记者在春天走访了{s}，与当地居民谈天，并查阅了镇上的旧档案。",
    "company": "{s}是当地一家为人熟知的企业，厂房就在铁路旁边，清晨常能听到汽笛声。本报记者参观了{s}，与几位老工人谈天，并查阅了旧账本。",
}
SENTENCES = {
    "population": "{y}年，{s}的人口为{v}人。",
    "area": "{s}的面积为{v}平方公里。",
    "elevation": "{s}海拔{v}米。",
    "founded": "{s}建立于{v}年。",
    "mayor": "{y}年，{s}的镇长是{v}。",
    "river": "{s}位于{v}河畔。",
    "region": "{s}属于{v}地区。",
    "founder": "{s}的创始人是{v}。",
    "headquarters": "{s}的总部设在{v}。",
    "employees": "{y}年，{s}有{v}名员工。",
    "chief_executive": "{y}年，{s}的首席执行官是{v}。",
    "revenue": "{y}年，{s}的营业收入为{v}百万克朗。",
}


def chinese_document(entity: Entity, title: str) -> Document:
    """The note on one town or company, with today's facts."""
    introduction = INTRODUCTIONS[entity.kind].format(s=entity.name)
    document = Document(title, [Text("p", introduction)], description=introduction[:40])
    lines = []
    for fact in entity.facts:
        if fact.relation in SENTENCES and fact.on_seeds:
            told = tell(entity, fact, stale=False)
            value = told.value.replace(",", "") if fact.type in ("number", "series") else told.value
            lines.append(SENTENCES[fact.relation].format(s=entity.name, v=value, y=told.as_of))
            document.statements += told.statements()
    document.blocks.append(Text("p", "".join(lines)))
    return document
