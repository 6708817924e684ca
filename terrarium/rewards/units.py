"""Units of measure by the names people write, each with its dimension and its size in the base unit of that dimension.

Money of different countries is of different dimensions: nothing here knows a rate of exchange.
"""

from __future__ import annotations

from decimal import Decimal

_TABLE = """
length 0.001 mm millimetre millimetres millimeter millimeters 毫米
length 0.01 cm centimetre centimetres centimeter centimeters 厘米
length 1 m metre metres meter meters 米
length 1000 km kms kilometre kilometres kilometer kilometers 公里 千米
length 0.0254 inch inches
length 0.3048 ft foot feet 英尺
length 0.9144 yd yard yards
length 1609.344 mi mile miles 英里
area 1 m2 sqm 平方米
area 1000000 km2 sqkm 平方公里 平方千米
area 10000 ha hectare hectares 公顷
area 4046.8564224 acre acres 英亩
area 2589988.110336 mi2 sqmi
volume 1 l litre litres liter liters 升
volume 1000 m3 立方米
mass 1 g gram grams gramme grammes 克
mass 1000 kg kilogram kilograms kilogramme kilogrammes 公斤 千克
mass 1000000 t tonne tonnes 吨
mass 453.59237 lb lbs pounds_mass
duration 1 s sec secs second seconds 秒
duration 60 min mins minute minutes 分钟
duration 3600 h hr hrs hour hours 小时
duration 86400 day days 天
duration 604800 week weeks 周
calendar 1 month months 个月
calendar 12 year years yr yrs 年
share 0.01 % percent pct percentage
share_points 1 pp
celsius 1 °c celsius
fahrenheit 1 °f fahrenheit
dollar 1 $ us$ usd dollar dollars 美元
euro 1 € eur euro euros 欧元
sterling 1 £ gbp
yuan 1 ¥ cny rmb yuan 元 人民币
power 1 w watt watts
power 1000 kw kilowatt kilowatts
power 1000000 mw megawatt megawatts
speed 1 km/h kmh kph
speed 1.609344 mph
"""

UNITS: dict[str, tuple[str, Decimal]] = {
    name: (dimension, Decimal(factor)) for dimension, factor, *names in (line.split() for line in _TABLE.strip().splitlines()) for name in names
}
