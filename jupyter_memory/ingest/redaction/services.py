"""Tokens of common services, known by how they begin or by the address that they stand in."""

from __future__ import annotations

from jupyter_memory.ingest.redaction.shapes import shape, word
from jupyter_memory.ingest.redaction.values import is_credential, is_given, is_key, is_mixed, is_noise, looks_random

_BEGIN_KEY = r"-----BEGIN[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_END_KEY = r"-----END[ A-Z0-9]{0,30}PRIVATE KEY[ A-Z]{0,10}-----"
_CREDENTIALS = r"(?P<secret>[A-Za-z0-9._~+/-]{8,}+={0,2})"
_HEX = tuple("0123456789abcdef")

SERVICES = (
    # The body ends at the next five hyphens, so that no stretch is read twice.
    shape("private key", "--begin", _BEGIN_KEY + r"[^-]*+(?:-(?!----)[^-]*+)*+" + _END_KEY),
    # A key that is cut off: as much as still looks like one.
    shape("private key", "--begin", _BEGIN_KEY + r"(?:(?:[\s\"',+]|\\[nr])*+[A-Za-z0-9+/=]{24,}+)+"),
    shape("password", "://", r"://[^\s/:@'\"<>]{0,100}:(?P<secret>[^\s/?#'\"<>]{1,128})@(?!sha256:)", is_given),
    # Sentry's address of a project, and a token in place of a user.
    shape("token", "://", r"://(?P<secret>[\w-]{20,200}+)@", looks_random),
    shape("AWS access key id", "akia asia", word("A[KS]IA") + r"[A-Z0-9]{16}\b"),
    shape(
        "AWS secret key",
        "aws",
        r"(?i:aws_?secret_?(?:access_?)?key)[\"']?\]?\s{0,9}[:=,]\s{0,9}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![\w/+])",
    ),
    shape("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ ub_pat_", word("gh[pousr]_", "github_pat_") + r"\w{22,}+"),
    shape(
        "GitLab token",
        "glpat- glrt- gldt- glptt- glcbt- glsoat- gloas-",
        word("gl") + r"(?:pat|rt|dt|ptt|cbt|soat|oas)-[\w-]{20,}+",
    ),
    shape("Bitbucket password", "atbb", word("ATBB") + r"[A-Za-z0-9]{28,}+", is_mixed),
    shape("Atlassian token", "tt3", word("AT") + r"[AC]TT3[\w-]{50,}+(?:=[0-9A-F]{8})?"),
    shape("Slack token", "xox xapp-", word("xox[abeoprs]-", "xapp-") + r"[\w.-]{10,}+"),
    shape("Slack webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/(?P<secret>[\w/-]{20,}+)"),
    shape("Discord webhook", "/api/webhooks/", r"/api/webhooks/\d{10,25}/(?P<secret>[\w-]{40,}+)"),
    shape("Discord token", "iscord token bot.run(", word("[MNO]") + r"[\w-]{23,27}\.[\w-]{6}\.[\w-]{27,45}+", is_mixed),
    shape("Teams webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/(?P<secret>[\w@/-]{40,}+)"),
    shape("Anthropic key", "sk-ant-", word("sk-ant-") + r"[\w-]{20,}+"),
    shape("Langfuse key", "sk-lf-", word("sk-lf-") + r"[0-9a-f-]{36}"),
    shape("OpenAI key", "sk-", word("sk-") + r"[\w-]{20,}+", is_noise),
    shape("LangSmith key", "lsv2_", word("lsv2_") + r"[a-z]{2}_[0-9a-f]{32}_[0-9a-f]{10}"),
    shape("NVIDIA key", "vapi-", word("nvapi-") + r"[\w-]{40,}+"),
    shape("Pinecone key", "pcsk_", word("pcsk_") + r"[A-Za-z0-9_]{40,}+"),
    shape("Fireworks key", " fw_ \"fw_ 'fw_ `fw_ =fw_", word("fw_") + r"[A-Za-z0-9]{22,}+", is_mixed),
    shape("Kaggle token", "kgat_", word("KGAT_") + r"[0-9a-f]{32}\b"),
    shape("Google key", "aiza", word("AIza") + r"[\w-]{35}"),
    shape("Google secret", "gocspx- ya29.", word("GOCSPX-", r"ya29\.") + r"[\w-]{20,500}"),
    shape("Google token", "1//0", r"(?<![\w/.:-])1//0[\w-]{40,}+"),
    shape("Stripe key", "k_live_ k_test_", word("[sr]k_live_", "[sr]k_test_") + r"[A-Za-z0-9]{16,}+"),
    shape("Stripe secret", "whsec_", word("whsec_") + r"[A-Za-z0-9+/=]{16,}+"),
    shape("PayPal token", "token$", word("access_token") + r"\$\w{7,10}\$[a-z0-9]{10,20}\$[0-9a-f]{32}"),
    shape("Hugging Face token", "hf_ api_org_", word("hf_", "api_org_") + r"[A-Za-z0-9]{30,}+"),
    shape("npm token", "npm_", word("npm_") + r"[A-Za-z0-9]{36,}+"),
    shape("PyPI token", "pypi-", word("pypi-") + r"[\w-]{50,}+"),
    shape("RubyGems key", "rubygems_", word("rubygems_") + r"[0-9a-f]{48}\b"),
    shape("Docker token", "dckr_", word("dckr_") + r"[op]at_[\w-]{24,}+"),
    shape("SendGrid key", "sg.", word(r"SG\.") + r"[\w-]{16,40}\.[\w-]{30,60}"),
    shape(
        "Mailchimp key", tuple(f"-us{digit}" for digit in range(1, 10)), word("[0-9a-f]") + r"[0-9a-f]{31}-us\d{1,2}\b"
    ),
    shape("Mailgun key", "key-", word("key-") + r"[0-9a-f]{32}\b"),
    shape("Brevo key", "xkeysib- xsmtpsib-", word("x") + r"(?:key|smtp)sib-[0-9a-f]{64}-\w{16}"),
    shape("Twilio key", tuple(f"sk{digit}" for digit in _HEX), word("SK") + r"[0-9a-f]{32}\b"),
    shape("Databricks token", "dapi", word("dapi") + r"[0-9a-f]{32}(?:-\d)?\b"),
    shape("Groq key", "gsk_", word("gsk_") + r"[A-Za-z0-9]{40,}+"),
    shape("xAI key", "xai-", word("xai-") + r"[A-Za-z0-9]{40,}+"),
    shape("Replicate token", "r8_", word("r8_") + r"[A-Za-z0-9]{30,}+"),
    shape("DigitalOcean token", "_v1_", word("do[opr]_v1_") + r"[0-9a-f]{64}\b"),
    shape("Heroku key", "hrku-", word("HRKU-") + r"[\w-]{30,}+"),
    shape("Notion token", "ntn_ secret_", word("ntn_", "secret_") + r"[A-Za-z0-9]{40,}+", is_mixed),
    shape("Vault token", "hvs. hvb. hvr.", word("hv") + r"[sbr]\.[\w-]{24,}+"),
    shape("Terraform token", ".atlasv1.", word("[A-Za-z0-9]") + r"[A-Za-z0-9]{13}\.atlasv1\.[\w-]{40,}+"),
    shape("Pulumi token", "ul-", word("pul-") + r"[0-9a-f]{40}\b"),
    shape("Doppler token", "dp.", word("dp") + r"\.(?:pt|st|ct|sa|scim|audit)\.(?:[\w-]{1,30}\.)?[A-Za-z0-9]{40,44}\b"),
    shape("Linear key", "_api_", word("lin_api_") + r"[A-Za-z0-9]{32,}+"),
    shape("Perplexity key", "plx-", word("pplx-") + r"[A-Za-z0-9]{40,}+"),
    shape("Tavily key", "tvly-", word("tvly-") + r"(?:dev-|prod-)?[A-Za-z0-9]{24,}+"),
    shape("Shopify token", "shpat_ shpss_ shpca_ shppa_", word("shp") + r"(?:at|ss|ca|pa)_[0-9a-fA-F]{32}\b"),
    shape("Square token", "sq0csp- sq0atp-", word("sq0") + r"(?:csp|atp)-[\w-]{22,}+"),
    shape("Sentry token", "sntrys_ sntryu_", word("sntry[su]_") + r"[\w+/=-]{40,}+"),
    shape("New Relic key", "nrak-", word("NRAK-") + r"[A-Z0-9]{27}\b"),
    shape("Grafana token", "glsa_ glc_ey", word("glsa_", "glc_ey") + r"[\w+/=-]{30,}+"),
    shape("PlanetScale token", "pscale_", word("pscale_") + r"[a-z]{2,5}_[\w.=-]{32,}+"),
    shape("Supabase token", "sbp_", word("sbp_") + r"[0-9a-f]{40}\b"),
    shape("Airtable token", "airtable token", word("pat") + r"[A-Za-z0-9]{14}\.[0-9a-f]{64}\b"),
    shape("Figma token", "igd_", word("figd_") + r"[\w-]{36,}+"),
    shape("Postman key", "pmak-", word("PMAK-") + r"[0-9a-f]{24}-[0-9a-f]{34}\b"),
    shape("Prefect key", "pnu_ pnb_", word("pn[ub]_") + r"[a-z0-9]{36}\b", looks_random),
    shape("CircleCI token", "ccipat_", word("CCIPAT_") + r"\w{40,}+"),
    shape("Alibaba key", "ltai", word("LTAI") + r"[A-Za-z0-9]{12,26}\b", is_mixed),
    shape("Artifactory key", "akcp", word("AKCp") + r"[A-Za-z0-9]{50,}+"),
    shape("Facebook token", "eaa", word("EAA") + r"[A-Za-z0-9]{80,}+", is_mixed),
    shape("age key", "-secret-key-1", word("AGE-SECRET-KEY-1") + r"[A-Z0-9]{58}\b"),
    shape(
        "Azure secret",
        tuple(f"{digit}q~" for digit in range(10)),
        r"(?<![\w.~-])[\w.~-]{3}\dQ~[\w.~-]{31,34}(?![\w.~-])",
    ),
    shape("Telegram token", ":aa", word(r"\d") + r"\d{7,9}:AA[\w-]{32,34}(?![\w-])"),
    shape("Weights & Biases key", "wandb", word("wandb") + r"[. ]login\b[^\n]{0,80}?\b(?P<secret>[0-9a-f]{40})\b"),
    shape("signature", "?sig= &sig= ;sig=", r"[?&;]sig=(?P<secret>[\w%+/=-]{30,}+)"),
    shape(
        "signature",
        "x-amz-signature x-amz-security-token",
        r"(?i:x-amz-(?:signature|security-token))=(?P<secret>[\w%+/=-]{30,}+)",
    ),
    # `?key=…` of an address; names that tell more are found like those of code.
    shape(
        "API key",
        tuple(f"{mark}{name}" for mark in "?&" for name in ("key=", "appid=", "app_key=", "auth=", "code=", "sid=")),
        r"[?&](?i:key|appid|app_key|auth|code|sid)=(?P<secret>[\w.~%+/=-]{16,512})",
        is_key,
    ),
    shape("JSON web token", "eyj", word("eyJ") + r"[\w-]{8,}+\.eyJ[\w-]{8,}+\.[\w-]*+"),
    shape(
        "authorization",
        "authorization",
        r"(?i:authorization)[\"']?\]?\s{0,9}[:=,]\s{0,9}[fF]?[\"']?(?i:bearer|basic|token|apikey)\s{1,9}"
        + _CREDENTIALS,
        is_credential,
    ),
    shape("bearer token", "bearer", r"\b(?i:bearer)\s{1,9}" + _CREDENTIALS, looks_random),
)
