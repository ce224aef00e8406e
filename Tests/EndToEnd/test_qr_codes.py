"""QR codes of TOTP secrets: compared module by module with qrcode, and read by a real decoder (zxing-cpp)."""

import re
import xml.etree.ElementTree

import numpy
import qrcode
import zxingcpp

from federation import Federation


def of_terminal(text):
    """Returns the modules of a terminal code, with its quiet zone: true is dark. Checks that the colors are set in each line."""
    rows = []
    for line in text.rstrip("\n").split("\n"):
        blocks = re.fullmatch("\x1b\\[30;107m([▀▄█ ]+)\x1b\\[0m", line)[1]
        rows.append([each in "▀█" for each in blocks])
        rows.append([each in "▄█" for each in blocks])
    return numpy.array(rows)


def of_svg(text):
    """Returns the modules of an SVG code, with its quiet zone."""
    root = xml.etree.ElementTree.fromstring(text)
    rectangle, path = root
    side = int(rectangle.get("width"))
    assert root.get("viewBox") == f"0 0 {side} {side}" and rectangle.get("fill") == "#fff" and path.get("fill") == "#000"
    found = numpy.zeros((side, side), dtype=bool)
    for x, y, count in re.findall(r"M(\d+) (\d+)h(\d+)v1h-\d+z", path.get("d")):
        found[int(y), int(x):int(x) + int(count)] = True
    return found


def read(modules):
    picture = numpy.where(numpy.kron(modules, numpy.ones((4, 4), dtype=bool)), 0, 255).astype(numpy.uint8)
    found = zxingcpp.read_barcodes(picture)
    return [each.text for each in found]


def of_other_implementation(text, version, mask):
    code = qrcode.QRCode(version, qrcode.constants.ERROR_CORRECT_M, border=0, mask_pattern=mask)
    code.add_data(qrcode.util.QRData(text.encode(), mode=qrcode.util.MODE_8BIT_BYTE))
    code.make(fit=False)
    return numpy.array(code.modules).astype(bool)


class QRCodes(Federation):
    stores = ("sqlite",)

    def setUp(self):
        super().setUp()
        self.sidecar.call("tenant.update", {"tenantId": "default", "mfa": "optional"})

    def enrolled(self, qr, name):
        self.sidecar.call("tenant.update", {"tenantId": "default", "name": name})
        self.password_account(f"{qr}{len(name)}@example.com")
        token = self.password_session(f"{qr}{len(name)}@example.com")
        return self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp", "qr": qr})

    def test_codes_are_those_of_another_implementation_and_readable(self):
        """Names of several lengths give several versions. The decoder reads exactly the URI."""
        versions = set()
        for qr, read_modules in (("svg", of_svg), ("terminal", of_terminal)):
            for name in ("A", "Shop", "Ein Läden & Söhne <GmbH>", "x" * 64, "é" * 128):
                answer = self.enrolled(qr, name)
                modules = read_modules(answer["qrCode"])
                if qr == "terminal":   # If the number of rows is odd, the last row is half a line.
                    modules = modules[:modules.shape[1]]
                self.assertEqual(modules.shape[0], modules.shape[1])
                border = modules.copy()
                border[4:-4, 4:-4] = False
                self.assertFalse(border.any(), "the quiet zone is not light")
                self.assertEqual(read(modules), [answer["otpauthUri"]])
                inner = modules[4:-4, 4:-4]
                version = (inner.shape[0] - 17) // 4
                versions.add(version)
                wanted = [of_other_implementation(answer["otpauthUri"], version, mask) for mask in range(8)]
                self.assertEqual(wanted[0].shape, inner.shape)
                self.assertTrue(any((each == inner).all() for each in wanted), f"version {version} differs from that of qrcode")
        self.assertGreater(len(versions), 3)

    def test_svg_has_no_scripts_and_references(self):
        text = self.enrolled("svg", "Shop")["qrCode"]
        self.assertEqual({each.tag.split("}")[1] for each in xml.etree.ElementTree.fromstring(text).iter()}, {"svg", "rect", "path"})
        self.assertNotIn("href", text)

    def test_code_only_for_authenticator_apps(self):
        self.password_account("mail@example.com")
        token = self.password_session("mail@example.com")
        self.assertNotIn("qrCode", self.sidecar.call("mfa.enroll", {"idToken": token, "kind": "totp"}))
        self.assertNotIn("qrCode", self.sidecar.call(
            "mfa.enroll", {"idToken": token, "kind": "sms", "phoneNumber": "+4915112345678", "qr": "svg"}))
        self.assertIn(("/qr", "enum"), self.violations(self.sidecar, "mfa.enroll", {"idToken": token, "kind": "totp", "qr": "png"}))
